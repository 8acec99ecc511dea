// Every command that the extension or the server promises is there once it is active.

export const name = 'every command of the extension and of the server exists';

export async function run(t) {
  const extension = t.vscode.extensions.getExtension('sidelight.sidelight');
  await extension.activate();
  const promised = extension.packageJSON.contributes.commands.map(({ command }) => command);
  const fromServer = ['sidelight.explain', 'sidelight.fix', 'sidelight.addToChat', 'sidelight.keep', 'sidelight.undo'];
  await t.until('the server has registered its commands', async () => {
    const present = new Set(await t.vscode.commands.getCommands(true));
    return [...promised, ...fromServer].every((command) => present.has(command));
  });
}
