// A turn goes on without the panel, and ends when the person says stop.

import { Panel } from './panel.mjs';

export const name = 'a turn goes on while the panel is closed, and stops when it is told to';

export async function run(t) {
  const panel = await Panel.fresh(t);
  await t.model.play([{ reply: ['The beginning. ', { gate: 'closed' }, 'The end.'] }]);
  await panel.send('Tell it slowly');
  await panel.says('The beginning.');
  await t.workbench.command('View: Show Explorer');
  await panel.prompt.waitFor({ state: 'hidden' });
  await t.model.open('closed');
  await t.workbench.statusBarItem('Sidelight: ready').waitFor();
  await panel.show();
  await panel.says('The beginning. The end.');

  await t.model.play([{ reply: ['Endless. ', { gate: 'never' }] }, { reply: ['Here I am.'] }]);
  await panel.send('Tell it forever');
  await panel.says('Endless.');
  await panel.view.locator('[data-act="stop"]').click();
  await panel.ended();
  await t.screenshot('stopped');
  await panel.send('Are you there?');
  await panel.says('Here I am.');
}
