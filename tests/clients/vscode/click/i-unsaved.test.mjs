// The person's unsaved text, a formatter at the save, and autosave: nothing typed is lost, nothing done twice.

import { edit, holds, Panel, read } from './panel.mjs';
import { LINES } from './suite.mjs';

export const name = 'unsaved text survives an edit, with trimming at the save and with autosave';

async function task(t, file, [from, to]) {
  const panel = await Panel.fresh(t);
  await t.model.play([{ reply: [read(t, file)] }, { reply: [edit(t, file, from, to)] }, { reply: ['Done.'] }]);
  await panel.send(`Change ${file}`);
  await panel.answer('allow_once');
  await panel.ended();
}

export async function run(t) {
  const settings = t.workbench.server;
  settings.set({ 'files.trimTrailingWhitespace': true });
  await t.workbench.reload();
  await t.workbench.openFile('dirty.txt', 1);
  await t.page.keyboard.type('typed ');
  await t.page.locator('.tab.active.dirty').waitFor();
  await task(t, 'dirty.txt', ['eight', 'EIGHT   ']);
  const typed = LINES.join('\n').replace('one', 'typed one');
  await holds(t, 'dirty.txt', `${typed.replace('eight', 'EIGHT')}\n`);
  const { requests } = await t.model.state();
  if (!JSON.stringify(requests.at(-1)).includes('changed further')) throw new Error('trimming was not told');

  settings.set({ 'files.trimTrailingWhitespace': false, 'files.autoSave': 'afterDelay', 'files.autoSaveDelay': 50 });
  await t.workbench.reload();
  await t.workbench.openFile('auto.txt', 1);
  await t.page.keyboard.type('typed ');
  await task(t, 'auto.txt', ['eight', 'EIGHT']);
  await holds(t, 'auto.txt', `${typed.replace('eight', 'EIGHT')}\n`);
  settings.set({ 'files.autoSave': 'off' });
  await t.workbench.reload();
}
