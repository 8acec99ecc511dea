/** The log that people can open; nothing secret is ever written to it. */

import * as vscode from 'vscode';

let channel: vscode.LogOutputChannel | undefined;

/** The one output channel; made at first use, disposed with the extension. */
export function log(): vscode.LogOutputChannel {
  channel ??= vscode.window.createOutputChannel('Sidelight', { log: true });
  return channel;
}

export function sayError(what: string, error: unknown): void {
  log().error(`${what}: ${error instanceof Error ? error.message : String(error)}`);
}
