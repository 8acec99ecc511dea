/** The server's state in words and buttons for the panel. */

import * as vscode from 'vscode';

import { explain } from './python';
import type { Status } from './server';
import type { Action, ServerStatus } from './state';

export function serverStatus(status: Status): ServerStatus {
  const restart: Action = { label: vscode.l10n.t('Restart'), command: 'sidelight.restart' };
  const showLog: Action = { label: vscode.l10n.t('Show log'), command: 'sidelight.showLog' };
  switch (status.state) {
    case 'starting':
    case 'running':
      return { state: status.state, actions: [] };
    case 'failed':
      return { state: 'stopped', problem: status.problem, actions: [restart, showLog] };
    case 'missing': {
      const setUp: Action = { label: vscode.l10n.t('Set up Python'), command: 'sidelight.setUpPython' };
      const choose: Action = {
        label: vscode.l10n.t('Choose interpreter'),
        command: 'sidelight.chooseInterpreter',
      };
      const advice = vscode.l10n.t(
        'No Python here can run the server. Sidelight can set up its own: an environment in the extension’s storage, with libraries from the Python package index. Or choose an interpreter that has the sidelight package (Python 3.11 or newer).',
      );
      return {
        state: 'stopped',
        problem: `${advice}\n${explain(status.tried)}`,
        actions: [setUp, choose, { ...restart, label: vscode.l10n.t('Look again') }, showLog],
      };
    }
  }
}
