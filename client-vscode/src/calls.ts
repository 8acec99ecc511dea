/** Requests to the server that change nothing here: what comes of them, the server tells by itself. */

import * as vscode from 'vscode';
import type { LanguageClient } from 'vscode-languageclient/node';

import type { Request } from './protocol';
import { notifications, requests } from './protocol';

/** Every call rejects with a sentence while there is no server. */
export class Calls {
  /** The client while it runs. */
  client: LanguageClient | undefined;

  ask<P, R>(request: Request<P, R>, params: P): Promise<R> {
    if (!this.client) return Promise.reject(new Error(vscode.l10n.t('The server is not running')));
    return this.client.sendRequest<R>(request.method, params);
  }

  async stop(sessionId: string): Promise<void> {
    await this.client?.sendNotification(notifications.cancel.method, { sessionId });
  }

  /** Stops one call; the turn goes on. */
  async stopCall(sessionId: string, toolCallId: string): Promise<void> {
    await this.ask(requests.stopCall, { sessionId, toolCallId });
  }

  /** Holds the next step of a turn, or lets it go on. */
  async pause(sessionId: string, paused: boolean): Promise<void> {
    await this.ask(requests.pause, { sessionId, paused });
  }

  /** Lets a running command go on in the background; the turn goes on without it. */
  async moveCall(sessionId: string, toolCallId: string): Promise<void> {
    await this.ask(requests.moveCall, { sessionId, toolCallId });
  }

  /** Ends a background task. */
  async stopTask(sessionId: string, id: string): Promise<void> {
    await this.ask(requests.stopTask, { sessionId, id });
  }

  /** Changes a prompt that waits, or takes it out when there is no text; false when it was taken up already. */
  async changeQueued(sessionId: string, id: string, text?: string): Promise<boolean> {
    const { done } = await (text === undefined
      ? this.ask(requests.removeQueued, { sessionId, id })
      : this.ask(requests.editQueued, { sessionId, id, text }));
    return done;
  }

  /** Why a rule may not be kept; undefined when it may. */
  async checkRule(rule: string): Promise<string | undefined> {
    return (await this.ask(requests.checkRule, { rule })).problem;
  }

  async original(uri: string): Promise<string | undefined> {
    return (await this.ask(requests.original, { uri })).text ?? undefined;
  }

  async terminalMoved(oldCwd: string, newCwd: string): Promise<void> {
    await this.client?.sendNotification(notifications.terminalCwd.method, { oldCwd, newCwd });
  }
}
