// What the setting for unsaved text says is what VS Code does: saved along by default, or left unsaved.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export const name = 'the setting sidelight.unsavedBuffers decides whether unsaved text is saved with an edit';

const TURN_MS = 20_000;

async function edited(t, controller, file, choice) {
  const { vscode } = t;
  const path = join(t.workspace, file);
  writeFileSync(path, 'one\ntwo\n');
  const settings = vscode.workspace.getConfiguration('sidelight');
  await settings.update('unsavedBuffers', choice, vscode.ConfigurationTarget.Global);
  const document = await vscode.workspace.openTextDocument(vscode.Uri.file(path));
  const editor = await vscode.window.showTextDocument(document);
  await editor.edit((edit) => edit.insert(new vscode.Position(0, 0), 'typed '));
  await controller.begin();
  await controller.setMode('acceptEdits');
  const input = { file_path: path, old_string: 'two', new_string: 'TWO' };
  await t.model.play([
    { reply: [{ tool_use: 'Read', input: { file_path: path } }] },
    { reply: [{ tool_use: 'Edit', input }] },
    { reply: ['Done.'] },
  ]);
  const text = `Change ${file}`;
  await controller.send({ text, chips: [], blocks: [{ type: 'text', text }] });
  const ended = () => {
    const shown = controller.current;
    return !shown.running && JSON.stringify(shown.items).includes('Done.');
  };
  await t.until('the end of the turn', ended, TURN_MS);
  if (document.getText() !== 'typed one\nTWO\n') throw new Error(`the buffer is ${document.getText()}`);
  return { saved: readFileSync(path, 'utf8') === document.getText(), dirty: document.isDirty };
}

export async function run(t) {
  const { controller } = await t.vscode.extensions.getExtension('sidelight.sidelight').activate();
  await t.until('a conversation', () => controller.current, TURN_MS);
  const kept = await edited(t, controller, 'kept.txt', 'keep');
  if (kept.saved || !kept.dirty) throw new Error(`kept: ${JSON.stringify(kept)}`);
  const { requests } = await t.model.state();
  if (!JSON.stringify(requests.at(-1)).includes('the disk is older')) throw new Error('the model was not told');
  const saved = await edited(t, controller, 'saved.txt', undefined);
  if (!saved.saved || saved.dirty) throw new Error(`saved: ${JSON.stringify(saved)}`);
}
