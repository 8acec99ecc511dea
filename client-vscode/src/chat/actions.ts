/** What the panel may ask for, each done by the part that can do it. */

import path from 'node:path';
import * as vscode from 'vscode';

import { OUTPUT, openDiff } from '../host/diff';
import type { EditorState } from '../host/editorState';
import type { FileIndex } from '../host/fileIndex';
import type { Permissions } from '../host/permission';
import { fuzzy } from '../host/fuzzy';
import { showLine } from '../host/review';
import type { SessionController } from '../session';
import { VIEW_COMMANDS } from '../state';
import type { FromView, ToView } from './messages';

export interface Doers {
  controller: SessionController;
  permissions: Permissions;
  editor: EditorState;
  index: FileIndex;
  /** Says something to the view. */
  tell: (message: ToView) => void;
}

/** Does what a message asks. Rejects with a sentence for the person when it cannot be done. */
export async function act(doers: Doers, message: FromView): Promise<void> {
  const { controller, permissions, editor } = doers;
  switch (message.type) {
    case 'send':
      return send(controller, editor, message);
    case 'stop':
      return controller.stop();
    case 'pause':
      return controller.calls.pause(shown(controller), message.on);
    case 'mode':
      return controller.setMode(message.id);
    case 'model':
      return controller.setModel(message.id);
    case 'stopCall':
      return controller.calls.stopCall(shown(controller), message.id);
    case 'moveCall':
      return controller.calls.moveCall(shown(controller), message.id);
    case 'stopTask':
      return controller.calls.stopTask(shown(controller), message.id);
    case 'queued':
      return changeQueued(controller, message);
    case 'checkRule':
      return checkRule(doers, message);
    case 'answer':
      return void permissions.answer(message.id, message);
    case 'review':
      return controller.review(message.action, reviewTarget(message));
    case 'selection':
      editor.switchSelection(message.on);
      return;
    case 'find':
      return find(doers, message);
    case 'mention':
      if (message.kind === 'selection') editor.keepSelection();
      else editor.add(message.path, message.kind);
      return;
    case 'addFiles':
      message.uris.forEach((uri) => editor.add(vscode.Uri.parse(uri).fsPath));
      return;
    case 'removeChip':
      editor.remove(message.id);
      return;
    case 'history':
      return controller.showHistory(message.open);
    case 'load':
      return load(controller, message.sessionId);
    default:
      return show(message);
  }
}

/** The conversation that a message of the view is about: the one that it shows. */
function shown(controller: SessionController): string {
  if (controller.shown !== null) return controller.shown;
  throw new Error(vscode.l10n.t('There is no conversation to send this to'));
}

async function send(
  controller: SessionController,
  editor: EditorState,
  { text, images }: FromView & { type: 'send' },
): Promise<void> {
  const draft = await editor.draft(text, images);
  await controller.send(draft);
  editor.used(draft);
}

/** The selection comes first while nothing is searched for, or when its file is. */
async function find(doers: Doers, { serial, query }: FromView & { type: 'find' }): Promise<void> {
  const { editor, index, tell } = doers;
  const { selected } = editor;
  const match = selected && fuzzy(query, selected.name);
  const found = await index.find(query);
  tell({ type: 'found', serial, found: match ? [{ ...selected, hits: match.hits }, ...found] : found });
}

/** Changes or removes a prompt that waits; one that was taken up already is told of. */
async function changeQueued(
  controller: SessionController,
  { id, text }: FromView & { type: 'queued' },
): Promise<void> {
  if (await controller.calls.changeQueued(shown(controller), id, text)) return;
  controller.tell('info', vscode.l10n.t('The agent has this prompt already'));
}

async function checkRule(doers: Doers, { id, rule }: FromView & { type: 'checkRule' }): Promise<void> {
  const problem = (await doers.controller.calls.checkRule(rule)) ?? '';
  doers.tell({ type: 'ruleChecked', id, rule, problem });
}

type Shown = Extract<
  FromView,
  { type: 'openFile' | 'openDiff' | 'openOutput' | 'openLink' | 'copy' | 'command' | 'ready' | 'focus' }
>;

async function show(message: Shown): Promise<void> {
  switch (message.type) {
    case 'openFile':
      return showLine(vscode.Uri.file(message.path), message.line ?? 1);
    case 'openDiff':
      return openDiff(vscode.Uri.file(message.path));
    case 'openOutput':
      return openOutput(message.id);
    case 'openLink':
      return openLink(message.href);
    case 'copy':
      return vscode.env.clipboard.writeText(message.text);
    case 'command':
      if (VIEW_COMMANDS.includes(message.command)) await vscode.commands.executeCommand(message.command);
      return;
    case 'ready':
    case 'focus':
      return;
  }
}

function reviewTarget(message: { hunkId?: string; path?: string }): { hunkId?: string; path?: string } {
  if (message.hunkId !== undefined) return { hunkId: message.hunkId };
  return message.path === undefined ? {} : { path: message.path };
}

async function load(controller: SessionController, sessionId: string): Promise<void> {
  if (await controller.open(sessionId)) return;
  throw new Error(vscode.l10n.t('This conversation could not be loaded; the log says why'));
}

/** Opens a file of the workspace at once, an address of the web after a question that shows all of it. */
async function openLink(href: string): Promise<void> {
  const target = vscode.Uri.parse(href);
  if (!['http', 'https', 'mailto'].includes(target.scheme)) return openPlace(href);
  const open = vscode.l10n.t('Open');
  const question = vscode.l10n.t('Open this address?');
  const said = await vscode.window.showInformationMessage(question, { modal: true, detail: href }, open);
  if (said === open) await vscode.env.openExternal(target);
}

/** A file of the workspace as an answer names it, `src/app.ts:12` or `src/app.ts#L12`. */
async function openPlace(href: string): Promise<void> {
  const [, name = '', line = '1'] =
    /^(?:file:\/\/)?(.+?)(?:[:#]L?(\d+))?$/.exec(decodeURIComponent(href)) ?? [];
  const root = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath ?? '';
  const file = vscode.Uri.file(path.isAbsolute(name) ? name : path.join(root, name));
  if (!vscode.workspace.getWorkspaceFolder(file)) {
    throw new Error(vscode.l10n.t('{0} is not in this folder, so it is not opened', name));
  }
  await showLine(file, Number(line));
}

/** A command's output as a read-only document. */
async function openOutput(id: string): Promise<void> {
  const uri = vscode.Uri.from({ scheme: OUTPUT, path: '/output.txt', query: id });
  const document = await vscode.workspace.openTextDocument(uri);
  await vscode.window.showTextDocument(document, { preview: true });
}
