// A turn is paused between two steps and goes on, by the buttons beside the prompt.

import { Panel, read } from './panel.mjs';

export const name = 'a paused turn waits with its next step until it may go on';

export async function run(t) {
  const panel = await Panel.fresh(t);
  await t.model.play([
    { reply: ['First I look. ', { gate: 'paused' }, read(t, 'mentioned.txt')] },
    { reply: ['Then I went on.'] },
  ]);
  const asked = async () => (await t.model.state()).requests.filter(({ body }) => body?.messages).length;
  const before = await asked();
  await panel.send('Look, then tell');
  await panel.says('First I look.');
  await panel.view.getByRole('button', { name: 'Pause before the next step' }).click();
  await panel.says('Paused: the next step waits.');
  await t.model.open('paused');
  await panel.says('mentioned.txt'); // the call has run
  const goOn = panel.view.getByRole('button', { name: 'Go on' });
  await goOn.waitFor();
  await t.screenshot('paused');
  const times = (await asked()) - before;
  if (times !== 1) throw new Error(`the model was asked ${times} times`);
  await goOn.click();
  await panel.says('Then I went on.');
  await panel.ended();
}
