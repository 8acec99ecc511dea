// The window is reloaded; the conversation is there again.

import { Panel } from './panel.mjs';

export const name = 'a reload keeps the conversation';

export async function run(t) {
  const panel = await Panel.fresh(t);
  await t.model.play([{ reply: ['Remember the word quince.'] }, { reply: ['It was quince.'] }]);
  await panel.send('Say something to remember');
  await panel.says('Remember the word quince');
  await panel.ended();
  await t.workbench.reload();
  const again = new Panel(t);
  await again.show();
  await again.says('Say something to remember');
  await again.says('Remember the word quince');
  await again.send('What was it?');
  await again.says('It was quince');
  await t.screenshot('reloaded');
}
