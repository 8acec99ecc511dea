/** The status bar: whether the agent is ready, works or waits, and what there is to review. */

import * as vscode from 'vscode';

import { setContext } from './contextKeys';
import { countWaiting } from './host/hunks';
import { onlySmall } from './host/smallModel';
import type { SessionController } from './session';

export class StatusBar implements vscode.Disposable {
  readonly #state = vscode.window.createStatusBarItem('sidelight.state', vscode.StatusBarAlignment.Left, 10);
  readonly #review = vscode.window.createStatusBarItem('sidelight.review', vscode.StatusBarAlignment.Left, 9);
  readonly #listening: vscode.Disposable;

  constructor(private readonly controller: SessionController) {
    this.#state.name = 'Sidelight';
    this.#state.command = 'sidelight.focus';
    this.#review.name = vscode.l10n.t('Sidelight: changes to review');
    this.#review.command = 'sidelight.reviewChanges';
    this.#listening = controller.onChange(() => this.#update());
    this.#update();
    this.#state.show();
  }

  dispose(): void {
    this.#listening.dispose();
    this.#state.dispose();
    this.#review.dispose();
  }

  #update(): void {
    const { shell } = this.controller.view();
    const waiting = shell.waiting !== null || shell.others > 0;
    this.#state.text = `$(lightbulb) ${this.#words(shell.server.state, shell.running, waiting)}`;
    this.#state.tooltip =
      shell.server.problem ?? shell.connection?.problem ?? shell.connection?.model ?? 'Sidelight';
    this.#state.backgroundColor =
      waiting || shell.server.state === 'stopped'
        ? new vscode.ThemeColor('statusBarItem.warningBackground')
        : undefined;
    setContext('sidelight.running', shell.running);
    setContext('sidelight.waiting', waiting);
    const { files, hunks } = countWaiting(this.controller.pending);
    if (hunks === 0) {
      this.#review.hide();
      return;
    }
    const words = [
      files === 1 ? vscode.l10n.t('{0} file', files) : vscode.l10n.t('{0} files', files),
      hunks === 1 ? vscode.l10n.t('{0} hunk', hunks) : vscode.l10n.t('{0} hunks', hunks),
    ];
    this.#review.text = vscode.l10n.t('{0} to review', vscode.l10n.t('{0}, {1}', ...words));
    this.#review.show();
  }

  #words(server: 'starting' | 'running' | 'stopped', running: boolean, waiting: boolean): string {
    if (server === 'starting') return vscode.l10n.t('Sidelight: starting');
    if (server === 'stopped') return vscode.l10n.t('Sidelight: stopped');
    if (waiting) return vscode.l10n.t('Sidelight: waiting for you');
    if (onlySmall(this.controller)) return vscode.l10n.t('Sidelight: small local model');
    return running ? vscode.l10n.t('Sidelight: working') : vscode.l10n.t('Sidelight: ready');
  }
}
