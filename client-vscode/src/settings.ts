/** The settings, read in one place. */

import * as vscode from 'vscode';

export interface Settings {
  python: string;
  model: string;
  /** What the user chose, empty if nothing: then `.claude` settings decide. */
  permissionMode: string;
  sendWithCtrlEnter: boolean;
  unsavedBuffers: 'save' | 'keep';
  environment: Record<string, string>;
  /** The editor's own proxy, empty if there is none or it is switched off. */
  proxy: string;
  noProxy: string[];
}

export const SECTION = 'sidelight';

export function readSettings(): Settings {
  const section = vscode.workspace.getConfiguration(SECTION);
  const http = vscode.workspace.getConfiguration('http');
  // Only what the user set for the whole editor: through a folder's proxy the key would go astray.
  const ofUser = <T>(name: string, none: T): T => http.inspect<T>(name)?.globalValue ?? none;
  return {
    python: section.get('python', ''),
    model: section.get('model', ''),
    // A folder's own editor settings must not loosen the questions: only the user's count.
    permissionMode: section.inspect<string>('permissionMode')?.globalValue ?? '',
    sendWithCtrlEnter: section.get('sendWithCtrlEnter', false),
    unsavedBuffers: section.get('unsavedBuffers', 'save'),
    environment: section.get('environment', {}),
    proxy: ofUser<string>('proxySupport', 'override') === 'off' ? '' : ofUser('proxy', ''),
    noProxy: ofUser<string[]>('noProxy', []),
  };
}

/** The part that the server is told of, at `initialize` and at each change. */
export function forServer(settings: Settings): Record<string, string | boolean | string[]> {
  const told: Record<string, string | boolean | string[]> = {
    unsavedBuffers: settings.unsavedBuffers,
    trusted: vscode.workspace.isTrusted,
  };
  if (settings.permissionMode) told['permissionMode'] = settings.permissionMode;
  if (settings.model) told['model'] = settings.model;
  if (settings.proxy) told['proxy'] = settings.proxy;
  if (settings.noProxy.length > 0) told['noProxy'] = settings.noProxy;
  return told;
}

/** Settings that only a new server process can see. */
export function needsRestart(before: Settings, after: Settings): boolean {
  return (
    before.python !== after.python ||
    before.model !== after.model ||
    before.proxy !== after.proxy ||
    before.noProxy.join() !== after.noProxy.join() ||
    JSON.stringify(before.environment) !== JSON.stringify(after.environment)
  );
}
