// The editor's own interfaces see what the server offers.

import { join } from 'node:path';

export const name = 'code actions are offered for a selection and for nothing else';

export async function run(t) {
  const { vscode } = t;
  const uri = vscode.Uri.file(join(t.workspace, 'host.txt'));
  await vscode.window.showTextDocument(await vscode.workspace.openTextDocument(uri));
  const titles = async (range) => {
    const actions = await vscode.commands.executeCommand('vscode.executeCodeActionProvider', uri, range);
    return actions.map(({ title }) => title).filter((title) => title.startsWith('Sidelight'));
  };
  const wanted = [
    'Sidelight: explain the selection',
    'Sidelight: fix the selection',
    'Sidelight: add the selection to the chat',
  ];
  await t.until('the actions of a selection', async () => {
    const found = await titles(new vscode.Range(0, 0, 1, 3));
    return wanted.every((title) => found.includes(title));
  });
  const none = await titles(new vscode.Range(1, 1, 1, 1));
  const extra = none.filter((title) => wanted.includes(title));
  if (extra.length > 0) throw new Error(`without a selection there is ${extra.join(', ')}`);
}
