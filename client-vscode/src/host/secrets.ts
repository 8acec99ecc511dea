/** The API key: typed once, kept in the editor's secret store, handed to the server, written nowhere else. */

import * as vscode from 'vscode';

import { sayError } from '../log';
import type { SessionController } from '../session';

const NAME = 'sidelight.apiKey';

export class Keys {
  constructor(
    private readonly secrets: vscode.SecretStorage,
    private readonly controller: SessionController,
  ) {}

  /** Has the server look for a model, with the stored key where there is one. */
  async lookAgain(): Promise<void> {
    await this.controller.connect(await this.secrets.get(NAME));
  }

  /** Hands the stored key to a server that has just started; without one the server looks by itself. */
  async handOver(): Promise<void> {
    try {
      await this.lookAgain();
    } catch (error) {
      sayError('The server could not look for a model', error);
    }
  }

  async set(): Promise<void> {
    const key = await vscode.window.showInputBox({
      title: vscode.l10n.t('API key for Anthropic'),
      prompt: vscode.l10n.t('Kept in the secret storage of VS Code'),
      password: true,
      ignoreFocusOut: true,
      validateInput: (text) => (text.trim() ? undefined : vscode.l10n.t('Enter a key')),
    });
    if (!key) return;
    await this.secrets.store(NAME, key.trim());
    const connection = await this.controller.connect(key.trim());
    if (!connection.ready)
      void vscode.window.showWarningMessage(connection.problem ?? vscode.l10n.t('The key was not accepted'));
  }

  async remove(): Promise<void> {
    await this.secrets.delete(NAME);
    // An empty key makes the server forget the one it has.
    await this.controller.connect('');
    void vscode.window.showInformationMessage(vscode.l10n.t('The key was removed'));
  }
}
