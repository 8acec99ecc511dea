/** `session/request_permission`: a card in the panel, or a modal while the panel is hidden. */

import * as vscode from 'vscode';
import type { LanguageClient } from 'vscode-languageclient/node';

import { sayError } from '../log';
import type {
  Json,
  PermissionAnswer,
  PermissionDetail,
  PermissionOption,
  RequestPermission,
} from '../protocol';
import { fromServer, metaOf } from '../protocol';
import type { SessionController } from '../session';
import type { Answer } from './permissionText';
import { detailOf, lineOf, outcomeOf } from './permissionText';

interface Waiting {
  sessionId: string;
  detail: PermissionDetail;
  options: PermissionOption[];
  input: Json;
  settle: (answer: PermissionAnswer) => void;
}

export class Permissions implements vscode.Disposable {
  readonly #waiting = new Map<string, Waiting>();

  constructor(
    private readonly controller: SessionController,
    private readonly panelVisible: () => boolean,
  ) {}

  attach(client: LanguageClient): vscode.Disposable[] {
    return [
      client.onRequest(
        fromServer.requestPermission.method,
        (params: RequestPermission, token: vscode.CancellationToken) => this.#ask(params, token),
      ),
      { dispose: () => this.#waiting.clear() },
    ];
  }

  /** Whether any question waits, in whichever conversation. */
  get any(): boolean {
    return this.#waiting.size > 0;
  }

  /** An answer from the card or the modal. A late or foreign one is dropped: false. */
  answer(id: string, answer: Answer): boolean {
    const waiting = this.#waiting.get(id);
    const option = waiting?.options.find((one) => one.optionId === answer.optionId);
    if (!waiting || !option) return false;
    this.#waiting.delete(id);
    const line = lineOf(option, answer);
    this.controller.answered(waiting.sessionId, id, line, option.kind.startsWith('reject'));
    waiting.settle(outcomeOf(answer, waiting.detail, waiting.input));
    return true;
  }

  dispose(): void {
    this.#waiting.clear();
  }

  #ask(params: RequestPermission, token: vscode.CancellationToken): Promise<PermissionAnswer> {
    const detail = detailOf(params, metaOf(params));
    const call = typeof params.toolCall['toolCallId'] === 'string' ? params.toolCall['toolCallId'] : '';
    const input = (params.toolCall['rawInput'] ?? {}) as Json;
    const { sessionId, options } = params;
    return new Promise((settle) => {
      this.#waiting.set(detail.id, { sessionId, detail, options, input, settle });
      token.onCancellationRequested(() => this.#withdraw(detail.id));
      this.controller.asked(sessionId, call, detail, options);
      if (!this.panelVisible()) {
        this.#modal(detail, options).catch((error: unknown) =>
          sayError('The question could not be shown', error),
        );
      }
    });
  }

  /** The server took the question back: the card closes; a modal that is still up answers nobody. */
  #withdraw(id: string): void {
    const waiting = this.#waiting.get(id);
    if (!waiting) return;
    this.#waiting.delete(id);
    this.controller.answered(
      waiting.sessionId,
      id,
      vscode.l10n.t('Closed: no answer is needed any more'),
      true,
    );
    waiting.settle({ outcome: { outcome: 'cancelled' } });
  }

  /** Closing the modal is no answer: the question goes on waiting in the panel. */
  async #modal(detail: PermissionDetail, options: PermissionOption[]): Promise<void> {
    const items = options.map((option) => ({ title: option.name, option }));
    const rules = detail.rules ?? [];
    const lines = [
      detail.command ?? detail.diffs?.map((diff) => diff.path).join('\n'),
      detail.why,
      ...(detail.cause ? [vscode.l10n.t('Because of: {0}', detail.cause)] : []),
      ...(detail.effects ?? []),
      ...(rules.length ? [vscode.l10n.t('For longer than once: {0}', rules.join(', '))] : []),
    ];
    const chosen = await vscode.window.showWarningMessage(
      detail.title,
      { modal: true, detail: lines.filter(Boolean).join('\n\n') },
      ...items,
    );
    const answer = chosen && (await this.#complete(detail, chosen.option));
    if (answer) this.answer(detail.id, answer);
  }

  /** What a card asks for on the spot: words with a no, a look at the rule before it is kept. */
  async #complete(detail: PermissionDetail, option: PermissionOption): Promise<Answer | undefined> {
    const { optionId, kind, name } = option;
    if (kind === 'reject_once') {
      const prompt = vscode.l10n.t('Why not, or what instead');
      const feedback = await vscode.window.showInputBox({ title: name, prompt, ignoreFocusOut: true });
      return feedback?.trim() ? { optionId, feedback: feedback.trim() } : { optionId };
    }
    const [rule, ...others] = detail.rules ?? [];
    if (!['allow_project', 'allow_always'].includes(optionId) || rule === undefined) return { optionId };
    const text = await vscode.window.showInputBox({
      title: name,
      prompt: vscode.l10n.t('Rule to keep'),
      value: rule,
      ignoreFocusOut: true,
      validateInput: (written) => this.controller.calls.checkRule(written),
    });
    return text?.trim() ? { optionId, rules: [text.trim(), ...others] } : undefined;
  }
}
