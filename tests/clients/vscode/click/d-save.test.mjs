// A save in the editor fires the FileChanged hook, once.

import { existsSync } from 'node:fs';

import { Panel, path } from './panel.mjs';

export const name = 'a save fires the FileChanged hook once';

export async function run(t) {
  await Panel.fresh(t); // hooks belong to a conversation
  await t.workbench.openFile('watched.txt', 1);
  await t.page.keyboard.type('now ');
  await t.workbench.save();
  const log = () => (existsSync(path(t, 'hook.log')) ? t.read('hook.log') : '');
  await t.until('the hook ran', () => log().trim().endsWith('}'));
  // A second change proves that no report of the first is still on its way: events keep their order.
  await t.page.keyboard.type('and ');
  await t.workbench.save();
  const runs = () => [...log().matchAll(/"hook_event_name": ?"FileChanged"/g)].length;
  await t.until('the hook ran again', () => runs() >= 2);
  if (runs() !== 2) throw new Error(`two saves ran the hook ${runs()} times`);
}
