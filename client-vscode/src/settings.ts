/** The settings, read in one place. */

import * as vscode from 'vscode';

export interface Settings {
  python: string;
  model: string;
  /** What the user chose, empty if nothing: then `.claude` settings decide. */
  permissionMode: string;
  sendWithCtrlEnter: boolean;
  dirtyBuffers: 'save' | 'keep';
  environment: Record<string, string>;
}

export const SECTION = 'sidelight';

export function readSettings(): Settings {
  const section = vscode.workspace.getConfiguration(SECTION);
  return {
    python: section.get('python', ''),
    model: section.get('model', ''),
    // A folder's own editor settings must not loosen the questions: only the user's count.
    permissionMode: section.inspect<string>('permissionMode')?.globalValue ?? '',
    sendWithCtrlEnter: section.get('sendWithCtrlEnter', false),
    dirtyBuffers: section.get('dirtyBuffers', 'save'),
    environment: section.get('environment', {}),
  };
}

/** The part that the server is told of, at `initialize` and at each change. */
export function forServer(settings: Settings): Record<string, string | boolean> {
  const told: Record<string, string | boolean> = {
    dirtyBuffers: settings.dirtyBuffers,
    trusted: vscode.workspace.isTrusted,
  };
  if (settings.permissionMode) told['permissionMode'] = settings.permissionMode;
  if (settings.model) told['model'] = settings.model;
  return told;
}

/** Settings that only a new server process can see. */
export function needsRestart(before: Settings, after: Settings): boolean {
  return (
    before.python !== after.python ||
    before.model !== after.model ||
    JSON.stringify(before.environment) !== JSON.stringify(after.environment)
  );
}
