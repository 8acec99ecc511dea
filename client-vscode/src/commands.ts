/** The commands, one line each. */

import * as vscode from 'vscode';

import type { Panel } from './chat/panel';
import type { EditorState } from './host/editorState';
import type { ReviewInEditor } from './host/review';
import type { Keys } from './host/secrets';
import type { SetUp } from './host/setUp';
import type { SmallModels } from './host/smallModel';
import { log, sayError } from './log';
import type { Server } from './server';
import type { SessionController } from './session';
import { SECTION } from './settings';

export interface Parts {
  server: Server;
  controller: SessionController;
  panel: Panel;
  review: ReviewInEditor;
  editor: EditorState;
  keys: Keys;
  small: SmallModels;
  setUp: SetUp;
}

type Run = (...args: never[]) => unknown;

export function registerCommands(parts: Parts): vscode.Disposable[] {
  const { server, controller, panel, review, editor, keys, small, setUp } = parts;
  const commands: Record<string, Run> = {
    'sidelight.focus': () => focus(panel),
    'sidelight.newConversation': () => controller.begin().then(() => panel.reveal({ type: 'focusPrompt' })),
    'sidelight.history': () => panel.reveal({ type: 'focusPrompt' }).then(() => controller.showHistory(true)),
    'sidelight.stopTurn': () => controller.stop(),
    'sidelight.mode': () => chooseMode(controller),
    'sidelight.goToQuestion': () => panel.reveal({ type: 'goToQuestion' }),
    'sidelight.mention': () =>
      editor.mentionSelection() ? panel.reveal({ type: 'focusPrompt' }) : undefined,
    'sidelight.setKey': () => keys.set(),
    'sidelight.removeKey': () => keys.remove(),
    'sidelight.lookAgain': () => keys.lookAgain(),
    'sidelight.installSmallModel': () => small.install(),
    'sidelight.renameInWords': (target?: Parameters<SmallModels['rename']>[0]) => small.rename(target),
    'sidelight.writeCommitMessage': (control?: vscode.SourceControl) => small.commitMessage(control),
    'sidelight.setUpPython': () => setUp.run(),
    'sidelight.restart': () => server.restart(),
    'sidelight.showLog': () => log().show(true),
    'sidelight.chooseModel': () => openSetting('model'),
    'sidelight.chooseGateway': () => openSetting('environment'),
    'sidelight.chooseInterpreter': () => openSetting('python'),
    'sidelight.reviewChanges': () => review.begin(),
    'sidelight.keepHunk': (uri?: vscode.Uri, changes?: [], index?: number) =>
      review.hunk('keep', uri, changes, index),
    'sidelight.undoHunk': (uri?: vscode.Uri, changes?: [], index?: number) =>
      review.hunk('undo', uri, changes, index),
    'sidelight.keepFile': (uri?: vscode.Uri) => review.file('keep', uri),
    'sidelight.undoFile': (uri?: vscode.Uri) => review.file('undo', uri),
    'sidelight.keepAllChanges': () => review.all('keep'),
    'sidelight.undoAllChanges': () => review.all('undo'),
    'sidelight.nextHunk': () => review.move(1),
    'sidelight.previousHunk': () => review.move(-1),
    'sidelight.openDiff': (target?: vscode.Uri | string) => review.diff(target),
  };
  return Object.entries(commands).map(([name, run]) =>
    vscode.commands.registerCommand(name, guarded(name, run)),
  );
}

/** A command that fails says so, with a way to the log. */
function guarded(name: string, run: Run): (...args: unknown[]) => Promise<void> {
  return async (...args) => {
    try {
      await (run as (...all: unknown[]) => unknown)(...args);
    } catch (error) {
      sayError(name, error);
      const text = error instanceof Error ? error.message : String(error);
      const show = vscode.l10n.t('Show log');
      if ((await vscode.window.showErrorMessage(`Sidelight: ${text}`, show)) === show) log().show(true);
    }
  };
}

/** To the prompt; from the prompt back to the editor. */
async function focus(panel: Panel): Promise<void> {
  if (panel.focused) await vscode.commands.executeCommand('workbench.action.focusActiveEditorGroup');
  else await panel.reveal({ type: 'focusPrompt' });
}

async function openSetting(name: string): Promise<void> {
  await vscode.commands.executeCommand('workbench.action.openSettings', `${SECTION}.${name}`);
}

async function chooseMode(controller: SessionController): Promise<void> {
  const modes = controller.current?.modes;
  if (!modes) return;
  const items = modes.availableModes.map((mode) => ({
    label: mode.name,
    ...(mode.description === undefined ? {} : { detail: mode.description }),
    id: mode.id,
    picked: mode.id === modes.currentModeId,
  }));
  const chosen = await vscode.window.showQuickPick(items, {
    placeHolder: vscode.l10n.t('Permission mode of this conversation'),
  });
  if (chosen) await controller.setMode(chosen.id);
}
