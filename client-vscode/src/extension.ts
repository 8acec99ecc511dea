/** Wires the parts together, and nothing else. */

import * as vscode from 'vscode';
import type { LanguageClient } from 'vscode-languageclient/node';

import { act } from './chat/actions';
import { Panel } from './chat/panel';
import { registerCommands } from './commands';
import { ORIGINAL, OUTPUT, Originals } from './host/diff';
import { handleApplyEdit } from './host/edits';
import { EditorState } from './host/editorState';
import { FileIndex } from './host/fileIndex';
import { Permissions } from './host/permission';
import { ReviewInEditor } from './host/review';
import { Keys } from './host/secrets';
import { SetUp } from './host/setUp';
import { SmallModels } from './host/smallModel';
import { log } from './log';
import type { AddToChat } from './protocol';
import { fromServer } from './protocol';
import { Server } from './server';
import { serverStatus } from './serverStatus';
import { SessionController } from './session';
import { forServer, needsRestart, readSettings, SECTION } from './settings';
import { StatusBar } from './status';

/** What tests in the editor's own process may look at. */
export interface Api {
  controller: SessionController;
  server: Server;
}

export function activate(context: vscode.ExtensionContext): Api {
  const controller = new SessionController(context.workspaceState, () => {
    const folder = vscode.workspace.workspaceFolders?.[0];
    const { sendWithCtrlEnter } = readSettings();
    return { cwd: folder?.uri.fsPath ?? null, folder: folder?.name ?? null, sendWithCtrlEnter };
  });
  const permissions: Permissions = new Permissions(controller, () => panel.visible);
  const index = new FileIndex();
  const editor = new EditorState(controller, index);
  const panel: Panel = new Panel(context.extensionUri, controller, (message) =>
    act({ controller, permissions, editor, index, tell: (answer) => panel.tell(answer) }, message),
  );
  const keys = new Keys(context.secrets, controller);
  const originals = new Originals((uri) => controller.calls.original(uri));
  const review = new ReviewInEditor(controller, originals);
  const server = new Server(
    context.extensionUri,
    context.globalStorageUri,
    { workspace: { handleApplyEdit } },
    (client) => [
      ...controller.attach(client),
      ...permissions.attach(client),
      addToChat(client, editor, panel),
    ],
  );
  context.subscriptions.push(
    controller,
    permissions,
    editor,
    index,
    panel,
    review,
    server,
    log(),
    new StatusBar(controller),
    vscode.workspace.registerTextDocumentContentProvider(ORIGINAL, originals),
    vscode.workspace.registerTextDocumentContentProvider(OUTPUT, {
      provideTextDocumentContent: (uri) => controller.output(uri.query),
    }),
    server.onStatus((status) => {
      controller.setServer(serverStatus(status));
      if (status.state !== 'running') controller.lost();
      else if (server.client) void begin(server.client, controller, keys);
    }),
    vscode.workspace.onDidChangeConfiguration((event) => void settingsChanged(event, server, controller)),
    vscode.workspace.onDidChangeWorkspaceFolders(() => void folderChanged(controller)),
    ...registerCommands({
      server,
      controller,
      panel,
      review,
      editor,
      keys,
      small: new SmallModels(server, controller, panel),
      setUp: new SetUp(context.extensionUri, context.globalStorageUri, server),
    }),
  );
  settings = readSettings();
  void server.start();
  stop = () => server.stop();
  return { controller, server };
}

let settings: ReturnType<typeof readSettings>;
let stop: (() => Promise<void>) | undefined;

export function deactivate(): Promise<void> | undefined {
  return stop?.();
}

async function begin(client: LanguageClient, controller: SessionController, keys: Keys): Promise<void> {
  try {
    await controller.ready(client);
  } catch (error) {
    controller.tell('error', error instanceof Error ? error.message : String(error));
  }
  await keys.handOver();
}

/** A code action of the server's put something into the prompt. */
function addToChat(client: LanguageClient, editor: EditorState, panel: Panel): vscode.Disposable {
  return client.onNotification(fromServer.addToChat.method, (range: AddToChat) => {
    editor.mention(range);
    const text = range.prompt ?? '';
    void panel.reveal(range.send && text ? { type: 'insert', text, send: true } : { type: 'insert', text });
  });
}

async function settingsChanged(
  event: vscode.ConfigurationChangeEvent,
  server: Server,
  controller: SessionController,
): Promise<void> {
  if (![SECTION, 'http'].some((section) => event.affectsConfiguration(section))) return;
  const before = settings;
  settings = readSettings();
  controller.refresh();
  if (needsRestart(before, settings)) await server.restart();
  else {
    const told = { settings: { [SECTION]: forServer(settings) } };
    await server.client?.sendNotification('workspace/didChangeConfiguration', told);
  }
}

async function folderChanged(controller: SessionController): Promise<void> {
  controller.refresh();
  if (!controller.current) await controller.begin();
}
