/** Conditions for key bindings and menus, told to the editor only when they change: a streamed word must not cost a call. */

import * as vscode from 'vscode';

const told = new Map<string, boolean>();

export function setContext(name: `sidelight.${string}`, value: boolean): void {
  if (told.get(name) === value) return;
  told.set(name, value);
  void vscode.commands.executeCommand('setContext', name, value);
}
