// Files as they are in the world: an edit changes its words and no other byte, open or not.

import { writeFileSync } from 'node:fs';

import { edit, holds, Panel, path, read } from './panel.mjs';

export const name = 'line ends, byte-order marks and old encodings outlive an edit';

const text = (words) => `une fa\u00e7on\r\n${words}\r\n`;
const KINDS = {
  crlf: (words) => Buffer.from(text(words)),
  mark: (words) => Buffer.from(`\ufeff${text(words)}`),
  utf16: (words) => Buffer.from(`\ufeff${text(words)}`, 'utf16le'),
  latin: (words) => Buffer.from(text(words), 'latin1'), // the workbench takes it for UTF-8
};

export async function run(t) {
  for (const [kind, bytes] of Object.entries(KINDS)) {
    const file = `${kind}.txt`;
    writeFileSync(path(t, file), bytes('de voir'));
    await t.workbench.openFile(file);
    const panel = await Panel.fresh(t);
    await t.model.play([
      { reply: [read(t, file)] },
      { reply: [edit(t, file, 'de voir', 'de dire')] },
      { reply: [`${kind} is done.`] },
    ]);
    await panel.send(`Change ${file}`);
    await panel.answer('allow_once');
    await panel.ended();
    await holds(t, file, bytes('de dire'));
    await t.workbench.openFile(file);
    await t.until('the new words are shown', async () =>
      (await t.workbench.visibleLines()).some((line) => line.includes('de dire')),
    );
    if (await t.page.locator('.tab.active.dirty').count()) throw new Error(`${file} is not saved`);
    await t.workbench.command('Sidelight: Undo All Changes in This File');
    await holds(t, file, bytes('de voir'));
  }
}
