/** The conversations of this window: sends what the person does, folds what the server says. */

import { randomUUID } from 'node:crypto';
import * as vscode from 'vscode';
import type { LanguageClient } from 'vscode-languageclient/node';

import { Calls } from './calls';
import type { Happening } from './fold';
import { fold } from './fold';
import { sayError } from './log';
import type { Connection, PermissionDetail, PermissionOption, PromptBlock, SessionInfo } from './protocol';
import { fromServer, metaOf, requests } from './protocol';
import type { Pending } from './host/hunks';
import type { Action, Chip, Conversation, History, ServerStatus, ViewState } from './state';
import { emptyConversation } from './state';
import { viewState } from './viewState';

const CURRENT = 'sidelight.currentSession';

export interface Storage {
  get(key: string): string | undefined;
  update(key: string, value: string | undefined): Thenable<void>;
}

/** A prompt as it is sent: its blocks, and the chips that the transcript shows for them. */
export interface Draft {
  text: string;
  chips: Chip[];
  blocks: PromptBlock[];
}

export class SessionController implements vscode.Disposable {
  readonly calls = new Calls();
  readonly #changed = new vscode.EventEmitter<void>();
  /** Fires when anything that is shown has changed; listeners read `view()`. */
  readonly onChange = this.#changed.event;
  readonly #conversations = new Map<string, Conversation>();
  /** Conversations whose stored messages are coming in; shown only when they are complete. */
  readonly #loading = new Map<string, Conversation>();
  #current: string | null = null;
  #connection: Connection | null = null;
  #server: ServerStatus = { state: 'starting', actions: [] };
  #history: History = { open: false, loading: false, sessions: [] };
  #chips: Chip[] = [];
  #lost = false;
  #opening: Promise<void> = Promise.resolve();

  constructor(
    private readonly storage: Storage,
    private readonly options: () => { cwd: string | null; folder: string | null; sendWithCtrlEnter: boolean },
  ) {}

  // --- what is shown ---

  view(): ViewState {
    const { cwd, folder, sendWithCtrlEnter } = this.options();
    return viewState({
      conversation: this.current,
      others: [...this.#conversations.values()],
      cwd: cwd ?? '',
      folder,
      sendWithCtrlEnter,
      connection: this.#connection,
      server: this.#server,
      chips: this.#chips,
      history: this.#history,
    });
  }

  get current(): Conversation | undefined {
    return this.#current === null ? undefined : this.#conversations.get(this.#current);
  }

  /** Which conversation is shown; none while a new one is being begun. */
  get shown(): string | null {
    return this.current?.sessionId ?? null;
  }

  /** What waits for review in every conversation of this window: the editor shows all of it. */
  get pending(): Pending[] {
    return [...this.#conversations.values()].flatMap(({ sessionId, changes }) =>
      changes.map((file) => ({ sessionId, file })),
    );
  }

  get connection(): Connection | null {
    return this.#connection;
  }

  setServer(server: ServerStatus): void {
    this.#server = server;
    this.#changed.fire();
  }

  setChips(chips: Chip[]): void {
    this.#chips = chips;
    this.#changed.fire();
  }

  refresh(): void {
    this.#changed.fire();
  }

  // --- the server comes and goes ---

  /** Listens to a client that is about to start. */
  attach(client: LanguageClient): vscode.Disposable[] {
    return [
      client.onNotification(fromServer.update.method, (p: Params<typeof fromServer.update>) =>
        this.#happen(p.sessionId, { kind: 'update', update: p.update, at: Date.now() }),
      ),
      client.onNotification(fromServer.state.method, (p: Params<typeof fromServer.state>) =>
        this.#happen(p.sessionId, { kind: 'state', state: p, at: Date.now() }),
      ),
      client.onNotification(fromServer.notice.method, (p: Params<typeof fromServer.notice>) =>
        this.#happen(p.sessionId ?? this.#current, { kind: 'notice', notice: p }),
      ),
      client.onNotification(fromServer.retry.method, (p: Params<typeof fromServer.retry>) =>
        this.#happen(p.sessionId, { ...p, kind: 'retry', at: Date.now() }),
      ),
      client.onNotification(fromServer.changes.method, (p: Params<typeof fromServer.changes>) =>
        this.#happen(p.sessionId, { kind: 'changes', files: p.files, redo: p.redo ?? 0 }),
      ),
      client.onNotification(fromServer.tasks.method, (p: Params<typeof fromServer.tasks>) =>
        this.#happen(p.sessionId, { kind: 'tasks', tasks: p.tasks }),
      ),
      client.onNotification(fromServer.connection.method, (p: Params<typeof fromServer.connection>) =>
        this.#connected(p),
      ),
    ];
  }

  /** The client is ready: takes the conversation up again, or begins one. */
  async ready(client: LanguageClient): Promise<void> {
    this.calls.client = client;
    const known = this.#current ?? this.storage.get(CURRENT);
    const lost = this.#lost;
    this.#lost = false;
    void this.#list();
    if (known !== undefined && (await this.open(known))) {
      if (lost) {
        this.#happen(this.#current, {
          kind: 'notice',
          notice: { severity: 'info', text: vscode.l10n.t('The server stopped and is back') },
          detail: vscode.l10n.t('The conversation is complete up to your last prompt. Nothing is running.'),
        });
      }
      return;
    }
    await this.begin();
  }

  /** The server is gone: whatever ran is over, and open questions are closed unanswered. */
  lost(): void {
    if (!this.calls.client) return;
    this.calls.client = undefined;
    this.#lost = true;
    const answer = vscode.l10n.t('Closed: the server stopped before it was answered');
    for (const id of this.#conversations.keys()) this.#happen(id, { kind: 'lost', answer });
    const current = this.current;
    this.#conversations.clear();
    if (current) this.#conversations.set(current.sessionId, current);
  }

  // --- conversations ---

  /** Begins a conversation in the folder; without a folder there is none. */
  begin(): Promise<void> {
    return this.#inTurn(async () => {
      const { cwd } = this.options();
      if (cwd === null) return;
      // Empty at once: what is typed from here on is meant for the new conversation.
      const before = this.#current;
      this.#switch(null);
      try {
        const made = await this.calls.ask(requests.newSession, { cwd, mcpServers: [] });
        this.#show(emptyConversation(made.sessionId, { modes: made.modes, models: made.models }));
      } catch (error) {
        this.#switch(before);
        throw error;
      }
    });
  }

  /** Shows a conversation, loading it when this window has not yet; false when it cannot be loaded. */
  async open(sessionId: string): Promise<boolean> {
    let opened = false;
    await this.#inTurn(async () => {
      const { cwd } = this.options();
      const known = this.#conversations.get(sessionId);
      if (cwd === null) return;
      if (known && sessionId !== this.#current) this.#show(known);
      else if (!(await this.#load(sessionId, cwd))) return;
      opened = true;
    });
    return opened;
  }

  async #load(sessionId: string, cwd: string): Promise<boolean> {
    this.#loading.set(sessionId, emptyConversation(sessionId));
    try {
      const { modes, models } = await this.calls.ask(requests.loadSession, {
        sessionId,
        cwd,
        mcpServers: [],
      });
      const read = this.#loading.get(sessionId) ?? emptyConversation(sessionId);
      this.#show({ ...read, modes, models });
      return true;
    } catch (error) {
      sayError(`The conversation ${sessionId} could not be loaded`, error);
      return false;
    } finally {
      this.#loading.delete(sessionId);
    }
  }

  async showHistory(open: boolean): Promise<void> {
    this.#history = { ...this.#history, open, loading: open };
    this.#changed.fire();
    if (open) await this.#list();
  }

  async #list(): Promise<void> {
    let sessions: SessionInfo[] = this.#history.sessions;
    try {
      const { cwd } = this.options();
      sessions = (await this.calls.ask(requests.listSessions, cwd === null ? {} : { cwd })).sessions;
    } catch (error) {
      sayError('The conversations could not be listed', error);
    }
    this.#history = { ...this.#history, sessions, loading: false };
    this.#changed.fire();
  }

  // --- a turn ---

  /** Sends a prompt; resolves when it is on its way, its end is folded when it comes. */
  async send(draft: Draft): Promise<void> {
    await this.#opening;
    if (!this.current) await this.begin();
    const conversation = this.current;
    if (!conversation) throw new Error(vscode.l10n.t('There is no conversation to send this to'));
    const { sessionId } = conversation;
    const messageId = randomUUID();
    if (!conversation.running) {
      this.#happen(sessionId, { kind: 'sent', id: messageId, text: draft.text, chips: draft.chips });
    }
    void this.#turn(sessionId, messageId, draft.blocks);
  }

  async #turn(sessionId: string, messageId: string, prompt: PromptBlock[]): Promise<void> {
    try {
      const ended = await this.calls.ask(requests.prompt, { sessionId, prompt, messageId });
      this.#happen(sessionId, { kind: 'ended', stopReason: ended.stopReason });
      const error = metaOf(ended)['error'];
      if (typeof error === 'string') this.#tellOnce(sessionId, error);
    } catch (error) {
      if (!this.calls.client) return;
      this.#tellOnce(sessionId, error instanceof Error ? error.message : String(error));
    }
  }

  /** An error that the turn's state has told already is not told twice. */
  #tellOnce(sessionId: string, text: string): void {
    const items = this.#conversations.get(sessionId)?.items ?? [];
    if (items.slice(-3).some((item) => item.kind === 'notice' && item.text === text)) return;
    this.#happen(sessionId, { kind: 'notice', notice: { severity: 'error', text } });
  }

  async stop(): Promise<void> {
    if (this.#current === null) return;
    await this.calls.stop(this.#current);
  }

  async setMode(modeId: string): Promise<void> {
    const conversation = this.current;
    if (!conversation?.modes) return;
    await this.calls.ask(requests.setMode, { sessionId: conversation.sessionId, modeId });
    const update = { sessionUpdate: 'current_mode_update', currentModeId: modeId };
    this.#happen(conversation.sessionId, { kind: 'update', update, at: Date.now() });
  }

  /** Another model answers from the next turn on; rejects while one runs. */
  async setModel(modelId: string): Promise<void> {
    const sessionId = this.#current;
    if (sessionId === null) return;
    await this.calls.ask(requests.setModel, { sessionId, modelId });
    this.#happen(sessionId, { kind: 'model', id: modelId });
  }

  /** Keeps or undoes a hunk, a file or all of a conversation, or brings back what was undone last; says why when something could not be undone. */
  async review(
    action: 'keep' | 'undo' | 'redo',
    what: { hunkId?: string; path?: string },
    sessionId = this.#current,
  ): Promise<void> {
    if (sessionId === null) return;
    const done = await this.calls.ask(requests.review, { sessionId, action, ...what });
    if (done.problem) this.tell('warning', done.problem);
  }

  /** Looks for a model again, with a key when one is given. */
  async connect(apiKey?: string): Promise<Connection> {
    const connection = await this.calls.ask(requests.connect, apiKey === undefined ? {} : { apiKey });
    this.#connected(connection);
    return connection;
  }

  /** The output of a tool call, as far as it was kept. */
  output(id: string): string {
    const item = this.current?.items.find((one) => one.id === id);
    return item?.kind === 'tool' ? item.output : '';
  }

  // --- questions ---

  asked(sessionId: string, call: string, detail: PermissionDetail, options: PermissionOption[]): void {
    this.#happen(sessionId, { kind: 'asked', call, detail, options });
  }

  answered(sessionId: string, id: string, answer: string, denied: boolean): void {
    this.#happen(sessionId, { kind: 'answered', id, answer, denied });
  }

  /** A sentence in the current conversation, with buttons. */
  tell(severity: 'info' | 'warning' | 'error', text: string, actions: Action[] = []): void {
    this.#happen(this.#current, { kind: 'notice', notice: { severity, text }, actions });
  }

  dispose(): void {
    this.#changed.dispose();
  }

  // --- inside ---

  #happen(sessionId: string | null, happening: Happening): void {
    if (sessionId === null) return;
    const loading = this.#loading.get(sessionId);
    if (loading) {
      this.#loading.set(sessionId, fold(loading, happening));
      return;
    }
    const before = this.#conversations.get(sessionId);
    if (!before) return;
    const after = fold(before, happening);
    if (after === before) return;
    this.#conversations.set(sessionId, after);
    this.#changed.fire();
  }

  #show(conversation: Conversation): void {
    this.#conversations.set(conversation.sessionId, conversation);
    void this.storage.update(CURRENT, conversation.sessionId);
    this.#switch(conversation.sessionId);
  }

  #switch(sessionId: string | null): void {
    this.#current = sessionId;
    this.#history = { ...this.#history, open: false };
    this.#changed.fire();
  }

  #connected(connection: Connection): void {
    this.#connection = connection;
    this.#changed.fire();
  }

  #inTurn(work: () => Promise<void>): Promise<void> {
    const next = this.#opening.then(work);
    this.#opening = next.catch(() => undefined);
    return next;
  }
}

type Params<N> = N extends { readonly types?: (params: infer P) => void } ? P : never;
