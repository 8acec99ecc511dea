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
      const choose: Action = {
        label: vscode.l10n.t('Choose interpreter'),
        command: 'sidelight.chooseInterpreter',
      };
      const advice = vscode.l10n.t(
        'No Python here can run the server. Install it with "python3 -m pip install sidelight" (Python 3.11 or newer), or choose an interpreter that has it.',
      );
      return {
        state: 'stopped',
        problem: `${advice}\n${explain(status.tried)}`,
        actions: [choose, { ...restart, label: vscode.l10n.t('Look again') }, showLog],
      };
    }
  }
}
