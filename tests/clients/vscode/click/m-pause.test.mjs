// A turn is paused between two steps and goes on, by the buttons beside the prompt.

import { Panel, read } from './panel.mjs';

export const name = 'a paused turn waits with its next step until it may go on';

export async function run(t) {
  const panel = await Panel.fresh(t);
  await t.model.play([
    { reply: ['First I look. ', { gate: 'paused' }, read(t, 'mentioned.txt')] },
    { reply: ['Then I went on.'] },
  ]);
  const before = (await t.model.state()).requests.length;
  await panel.send('Look, then tell');
  await panel.says('First I look.');
  await panel.view.getByRole('button', { name: 'Pause before the next step' }).click();
  await panel.says('Paused: the next step waits.');
  await t.model.open('paused');
  const goOn = panel.view.locator('[data-act="pause"]', { hasNotText: 'Pause' }).and(panel.view.getByLabel('Go on'));
  await goOn.waitFor();
  await t.screenshot('paused');
  const asked = (await t.model.state()).requests.length - before;
  if (asked !== 1) throw new Error(`the model was asked ${asked} times`);
  await goOn.click();
  await panel.says('Then I went on.');
  await panel.ended();
}
