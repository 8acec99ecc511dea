// A code action on a selection puts it into the prompt.

import { Panel } from './panel.mjs';

export const name = 'a code action takes the selection to the agent';

export async function run(t) {
  const panel = await Panel.fresh(t);
  await t.model.play([{ reply: ['These lines count from two to three.'] }]);
  await t.workbench.openFile('action.txt');
  await t.workbench.selectLines(2, 3);
  await t.workbench.takeCodeAction('Sidelight: explain the selection');
  await panel.says('count from two to three');
  const { requests } = await t.model.state();
  const sent = JSON.stringify(requests.at(-1));
  const times = [...sent.matchAll(/two\\+nthree/g)].length;
  if (times !== 1) throw new Error(`the selection was sent ${times} times`);
  await t.screenshot('explained');
}
