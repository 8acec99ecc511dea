/** Starts, stops and restarts the language server; one change at a time. */

import * as vscode from 'vscode';
import type { LanguageClientOptions, Middleware, StaticFeature } from 'vscode-languageclient/node';
import { CloseAction, ErrorAction, LanguageClient, RevealOutputChannelOn } from 'vscode-languageclient/node';

import { wheelIn } from './environment';
import { log, sayError } from './log';
import { PROTOCOL } from './protocol';
import * as python from './python';
import { forServer, readSettings } from './settings';

/** A crash within this time of the one before counts as the same trouble. */
const CALM_MS = 60_000;
const CRASHES = 3;

export type Status =
  | { state: 'starting' }
  | { state: 'running' }
  | { state: 'missing'; tried: python.Tried[] }
  | { state: 'failed'; problem: string };

export type Prepare = (client: LanguageClient) => vscode.Disposable[];

export class Server implements vscode.Disposable {
  readonly #changed = new vscode.EventEmitter<Status>();
  /** Fires at each change of status; `running` means that `initialize` was answered. */
  readonly onStatus = this.#changed.event;
  #client: LanguageClient | undefined;
  #attached: vscode.Disposable[] = [];
  #python = '';
  #queue: Promise<void> = Promise.resolve();
  #crashes: number[] = [];
  #status: Status = { state: 'starting' };
  #stopping = false;

  constructor(
    private readonly extension: vscode.Uri,
    private readonly storage: vscode.Uri,
    private readonly middleware: Middleware,
    private readonly prepare: Prepare,
  ) {}

  /** The running client; undefined while there is none. */
  get client(): LanguageClient | undefined {
    return this.#status.state === 'running' ? this.#client : undefined;
  }

  /** The interpreter of the running server. */
  get python(): string | undefined {
    return this.#status.state === 'running' ? this.#python : undefined;
  }

  get status(): Status {
    return this.#status;
  }

  start(): Promise<void> {
    return this.#serial(() => this.#start());
  }

  /** Ends the present server and starts another; calls while one is under way wait for it. */
  restart(): Promise<void> {
    return this.#serial(async () => {
      await this.#stop();
      await this.#start();
    });
  }

  stop(): Promise<void> {
    return this.#serial(() => this.#stop());
  }

  /** Does something that no server may run beside, then starts one; rejects as `work` does. */
  async whileStopped<T>(work: () => Promise<T>): Promise<T> {
    let done: Promise<T> | undefined;
    await this.#serial(async () => {
      this.#say({ state: 'starting' });
      await this.#stop();
      done = work();
      await Promise.allSettled([done]);
      await this.#start();
    });
    if (!done) throw new Error(vscode.l10n.t('The server did not stop'));
    return done;
  }

  dispose(): void {
    this.#changed.dispose();
  }

  #serial(work: () => Promise<void>): Promise<void> {
    const next = this.#queue.then(work);
    this.#queue = next.catch((error: unknown) =>
      sayError('The server could not be started or stopped', error),
    );
    return this.#queue;
  }

  #say(status: Status): void {
    this.#status = status;
    this.#changed.fire(status);
  }

  async #start(): Promise<void> {
    this.#say({ state: 'starting' });
    await vscode.workspace.fs.createDirectory(this.storage);
    const settings = readSettings();
    const env = { ...process.env, ...settings.environment };
    const list = python.candidates(settings.python, await extensionPython(), this.storage.fsPath);
    const brought = wheelIn(this.extension.fsPath)?.version;
    const search = await python.search(list, this.storage.fsPath, env, brought);
    if ('tried' in search) {
      log().error(`No Python can run the server.\n${python.explain(search.tried)}`);
      this.#say({ state: 'missing', tried: search.tried });
      return;
    }
    const { candidate, probe } = search.found;
    log().info(
      `${candidate.command} (${candidate.from}): Python ${probe.python}, sidelight ${String(probe.sidelight)}`,
    );
    await this.#launch(candidate.command, env);
  }

  async #launch(command: string, env: NodeJS.ProcessEnv): Promise<void> {
    const client = new LanguageClient(
      'sidelight',
      'Sidelight',
      { command, args: ['-P', '-m', 'sidelight', 'lsp'], options: { cwd: this.storage.fsPath, env } },
      this.#options(),
    );
    client.registerFeature(declaration);
    this.#client = client;
    this.#python = command;
    this.#stopping = false;
    this.#attached = this.prepare(client);
    try {
      await client.start();
    } catch (error) {
      sayError('The server did not start', error);
      await this.#stop();
      this.#say({ state: 'failed', problem: error instanceof Error ? error.message : String(error) });
      return;
    }
    const theirs = protocolOf(client);
    if (theirs !== undefined && theirs !== PROTOCOL) {
      await this.#stop();
      const problem = vscode.l10n.t(
        'The server speaks protocol {0}, this extension {1}. Install matching versions of both.',
        theirs,
        PROTOCOL,
      );
      this.#say({ state: 'failed', problem });
      return;
    }
    this.#say({ state: 'running' });
  }

  #options(): LanguageClientOptions {
    return {
      documentSelector: [{ scheme: 'file' }, { scheme: 'untitled' }],
      outputChannel: log(),
      revealOutputChannelOn: RevealOutputChannelOn.Never,
      initializationOptions: () => ({ protocol: PROTOCOL, ...forServer(readSettings()) }),
      initializationFailedHandler: () => false,
      middleware: this.middleware,
      errorHandler: {
        error: () => ({ action: ErrorAction.Continue, handled: true }),
        closed: () => {
          this.#closed();
          return { action: CloseAction.DoNotRestart, handled: true };
        },
      },
    };
  }

  /** The process ended by itself: starts it again unless that keeps happening. */
  #closed(): void {
    if (this.#stopping) return;
    const now = Date.now();
    this.#crashes = [...this.#crashes.filter((time) => now - time < CALM_MS), now];
    log().error('The server ended by itself.');
    if (this.#crashes.length < CRASHES) {
      void this.restart();
      return;
    }
    void this.#serial(async () => {
      await this.#stop();
      this.#say({
        state: 'failed',
        problem: vscode.l10n.t('The server stopped {0} times in a minute.', CRASHES),
      });
    });
  }

  async #stop(): Promise<void> {
    this.#stopping = true;
    const client = this.#client;
    this.#client = undefined;
    this.#attached.forEach((item) => void item.dispose());
    this.#attached = [];
    if (!client) return;
    try {
      if (client.isRunning()) await client.stop(3000);
      else await client.dispose(3000);
    } catch (error) {
      sayError('The server did not stop in time', error);
    }
  }
}

/** Says at `initialize` that this client is our own extension, so the server talks to the panel. */
const declaration: StaticFeature = {
  fillClientCapabilities: (capabilities) => {
    capabilities.experimental = {
      ...(capabilities.experimental as object),
      sidelight: { protocol: PROTOCOL },
    };
  },
  initialize: () => undefined,
  getState: () => ({ kind: 'static' }),
  clear: () => undefined,
};

/** The interpreter that the Python extension has chosen for the workspace, if it is there. */
export async function extensionPython(): Promise<string | undefined> {
  const extension = vscode.extensions.getExtension<PythonApi>('ms-python.python');
  if (!extension) return undefined;
  try {
    const api = extension.isActive ? extension.exports : await extension.activate();
    return api.environments?.getActiveEnvironmentPath?.(vscode.workspace.workspaceFolders?.[0]?.uri)?.path;
  } catch (error) {
    sayError('The Python extension did not answer', error);
    return undefined;
  }
}

interface PythonApi {
  environments?: { getActiveEnvironmentPath?: (resource?: vscode.Uri) => { path: string } | undefined };
}

function protocolOf(client: LanguageClient): number | undefined {
  const experimental = client.initializeResult?.capabilities.experimental as
    { sidelight?: { protocol?: unknown } } | undefined;
  const protocol = experimental?.sidelight?.protocol;
  return typeof protocol === 'number' ? protocol : undefined;
}
