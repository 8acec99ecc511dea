// What an earlier conversation changed stays in sight and in reach.

import { edit, holds, Panel, read } from './panel.mjs';
import { LINES } from './suite.mjs';

export const name = 'hunks of an earlier conversation stay marked, counted and can be undone';

export async function run(t) {
  await t.workbench.openFile('earlier.txt');
  const panel = await Panel.fresh(t);
  await t.model.play([
    { reply: [read(t, 'earlier.txt')] },
    { reply: [edit(t, 'earlier.txt', 'two', 'TWO')] },
    { reply: ['Done.'] },
  ]);
  await panel.send('Put line two in capitals');
  await panel.answer('allow_once');
  await panel.ended();
  const before = await t.workbench.statusBarItem('to review').textContent();
  await Panel.fresh(t);
  await t.workbench.openFile('earlier.txt');
  await t.until('the line is marked', async () => (await t.workbench.gutterMarks.count()) === 1);
  const after = await t.workbench.statusBarItem('to review').textContent();
  if (after !== before) throw new Error(`the status bar said ${before}, then ${after}`);
  await t.screenshot('earlier');
  await t.workbench.command('Sidelight: Undo This Change');
  await holds(t, 'earlier.txt', `${LINES.join('\n')}\n`);
  await t.until('nothing is marked', async () => (await t.workbench.gutterMarks.count()) === 0);
}
