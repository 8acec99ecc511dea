/** The panel's webview: a strict policy, nothing remote, and state that is sent anew whenever the view comes back. */

import { randomBytes } from 'node:crypto';
import * as vscode from 'vscode';

import { sayError } from '../log';
import { difference } from '../patch';
import type { SessionController } from '../session';
import type { ViewState } from '../state';
import type { FromView, ToView } from './messages';
import { isFromView } from './messages';

export const VIEW = 'sidelight.chat';

/** Changes are joined for this long before they are sent: two frames, less than an eye notices. */
const JOIN_MS = 33;

export class Panel implements vscode.WebviewViewProvider, vscode.Disposable {
  readonly #disposables: vscode.Disposable[] = [];
  readonly #shown = new vscode.EventEmitter<boolean>();
  readonly onVisible = this.#shown.event;
  #view: vscode.WebviewView | undefined;
  /** What the view has; undefined until it said that it is ready. */
  #sent: ViewState | undefined;
  #timer: NodeJS.Timeout | undefined;
  #later: ToView[] = [];

  constructor(
    private readonly root: vscode.Uri,
    private readonly controller: SessionController,
    private readonly act: (message: FromView) => Promise<void>,
  ) {
    this.#disposables.push(
      controller.onChange(() => this.#schedule()),
      vscode.window.registerWebviewViewProvider(VIEW, this),
    );
  }

  get visible(): boolean {
    return this.#view?.visible ?? false;
  }

  /** Whether the prompt has the focus, as the view last said. */
  focused = false;

  resolveWebviewView(view: vscode.WebviewView): void {
    this.#view = view;
    this.#sent = undefined;
    const dist = vscode.Uri.joinPath(this.root, 'dist');
    view.webview.options = { enableScripts: true, localResourceRoots: [dist] };
    view.webview.html = page(view.webview, dist);
    const attached = [
      view.webview.onDidReceiveMessage((message: unknown) => this.#receive(message)),
      view.onDidChangeVisibility(() => {
        // A hidden view is thrown away by the editor; it asks for everything when it is back.
        if (!view.visible) this.#sent = undefined;
        this.#shown.fire(view.visible);
      }),
    ];
    view.onDidDispose(() => {
      attached.forEach((item) => void item.dispose());
      this.#view = undefined;
      this.#sent = undefined;
      this.#shown.fire(false);
    });
    this.#badge();
    this.#shown.fire(view.visible);
  }

  /** Brings the panel up by a command of the person's, then gives it a message. */
  async reveal(message: ToView): Promise<void> {
    if (this.#sent) this.tell(message);
    else this.#later.push(message);
    await vscode.commands.executeCommand(`${VIEW}.focus`);
  }

  /** Tells the view something if it is there; whoever is away does not hear it. */
  tell(message: ToView): void {
    if (!this.#sent) return;
    this.#flush();
    this.#post(message);
  }

  dispose(): void {
    clearTimeout(this.#timer);
    this.#disposables.forEach((item) => void item.dispose());
  }

  #receive(message: unknown): void {
    if (!isFromView(message)) return;
    if (message.type === 'ready') this.#init();
    else if (message.type === 'focus') this.focused = message.on;
    else this.act(message).catch((error: unknown) => this.#failed(message, error));
  }

  #failed(message: FromView, error: unknown): void {
    sayError(`The panel's ${message.type} failed`, error);
    const text = error instanceof Error ? error.message : String(error);
    this.controller.tell('error', text);
    if (message.type === 'send') {
      this.tell({ type: 'refused', text: message.text, images: message.images });
    }
  }

  #init(): void {
    this.#sent = this.controller.view();
    this.#post({
      type: 'init',
      state: this.#sent,
      strings: (vscode.l10n.bundle as Record<string, string> | undefined) ?? {},
      locale: vscode.env.language,
    });
    this.#later.splice(0).forEach((message) => this.#post(message));
  }

  #schedule(): void {
    this.#badge();
    // Another conversation is shown at once, so that nothing is typed into the wrong one.
    if (this.#sent && this.#sent.shell.sessionId !== this.controller.shown) this.#flush();
    else this.#timer ??= setTimeout(() => this.#flush(), JOIN_MS);
  }

  #flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (!this.#sent) return;
    const now = this.controller.view();
    const patch = difference(this.#sent, now);
    this.#sent = now;
    if (patch) this.#post({ type: 'patch', patch });
  }

  #post(message: ToView): void {
    void this.#view?.webview.postMessage(message);
  }

  #badge(): void {
    if (!this.#view) return;
    const { waiting, others } = this.controller.view().shell;
    const value = (waiting === null ? 0 : 1) + others;
    this.#view.badge = value ? { value, tooltip: vscode.l10n.t('{0} waiting for you', value) } : undefined;
  }
}

function page(webview: vscode.Webview, dist: vscode.Uri): string {
  const nonce = randomBytes(16).toString('base64');
  const script = String(webview.asWebviewUri(vscode.Uri.joinPath(dist, 'panel.js')));
  const style = String(webview.asWebviewUri(vscode.Uri.joinPath(dist, 'panel.css')));
  const policy = [
    `default-src 'none'`,
    `script-src 'nonce-${nonce}'`,
    `style-src ${webview.cspSource}`,
    `img-src data:`,
  ].join('; ');
  return `<!doctype html>
<html lang="${vscode.env.language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<link rel="stylesheet" href="${style}">
<title>Sidelight</title>
</head>
<body>
<div id="root"></div>
<script nonce="${nonce}" src="${script}"></script>
</body>
</html>`;
}
