// Two hunks wait: one is undone by its lens, the other kept in the panel.

import { edit, holds, Panel, read } from './panel.mjs';
import { LINES } from './suite.mjs';

export const name = 'one of two hunks is undone in the editor, the other kept in the panel';

export async function run(t) {
  await t.workbench.openFile('hunks.txt');
  const panel = await Panel.fresh(t);
  await t.model.play([
    { reply: [read(t, 'hunks.txt')] },
    { reply: [edit(t, 'hunks.txt', 'one', 'ONE'), edit(t, 'hunks.txt', 'eight', 'EIGHT')] },
    { reply: ['Two lines changed.'] },
  ]);
  await panel.send('Put the first and the last line in capitals');
  await panel.answer('allow_once');
  await panel.answer('allow_once');
  await panel.ended();
  const both = LINES.join('\n').replace('one', 'ONE').replace('eight', 'EIGHT');
  await holds(t, 'hunks.txt', `${both}\n`);
  await t.until('four lens titles', async () => (await t.workbench.lensTitles()).length >= 6);
  await t.screenshot('hunks');
  await t.workbench.clickLens('Undo', 0);
  await holds(t, 'hunks.txt', `${both.replace('ONE', 'one')}\n`);
  const file = panel.strip('changes').locator('[data-file="hunks.txt"]');
  if ((await file.count()) === 0) await panel.strip('changes').locator('.tog').click();
  await file.locator('[data-act="keepHunk"]').last().click();
  await t.until('nothing of the file waits', async () => (await t.workbench.lensTitles()).length === 0);
  await holds(t, 'hunks.txt', `${both.replace('ONE', 'one')}\n`);
}
