/** The files and folders of the workspace for `@`: looked up once, kept, and looked up again after a change. */

import path from 'node:path';
import * as vscode from 'vscode';

import type { Found } from '../chat/messages';
import { sayError } from '../log';
import { fuzzyPath } from './fuzzy';

/** A workspace with more files is searched in the first of them. */
const MOST = 20_000;
/** A list is taken for fresh this long, whatever happens on the disk. */
const FRESH_MS = 2_000;
const SHOWN = { open: 6, file: 8, folder: 4 };

interface Place {
  path: string;
  relative: string;
}

interface Places {
  files: Place[];
  folders: Place[];
}

export class FileIndex implements vscode.Disposable {
  readonly #disposables: vscode.Disposable[] = [];
  #known: Promise<Places> | undefined;
  #at = 0;
  #stale = true;

  constructor() {
    const watcher = vscode.workspace.createFileSystemWatcher('**/*', false, true, false);
    const changed = () => {
      this.#stale = true;
    };
    this.#disposables.push(
      watcher,
      watcher.onDidCreate(changed),
      watcher.onDidDelete(changed),
      vscode.workspace.onDidChangeWorkspaceFolders(() => {
        this.#known = undefined;
      }),
    );
  }

  dispose(): void {
    this.#disposables.forEach((item) => void item.dispose());
  }

  /** Files below a folder, as the workspace names them; at most `most`. */
  async below(folder: string, most: number): Promise<{ files: string[]; more: number }> {
    const { files } = await this.#places();
    const inside = files.filter((file) => file.path.startsWith(`${folder}${path.sep}`));
    const shown = inside.slice(0, most).map((file) => file.relative);
    return { files: shown, more: inside.length - shown.length };
  }

  /** What a query names: open editors first, then files, then folders. */
  async find(query: string): Promise<Found[]> {
    const { files, folders } = await this.#places();
    const open = openFiles();
    const opened = new Set(open.map((place) => place.path));
    const first = best(query, open, SHOWN.open).map((found) => ({ ...found, open: true }));
    if (!query) return first;
    const others = files.filter((file) => !opened.has(file.path));
    return [
      ...first,
      ...best(query, others, SHOWN.file),
      ...best(query.replace(/\/$/, ''), folders, SHOWN.folder).map(asFolder),
    ];
  }

  /** An old list is good enough for the answer; a new one is made for the next. */
  #places(): Promise<Places> {
    const known = this.#known;
    const now = Date.now();
    if (!known || (this.#stale && now - this.#at > FRESH_MS)) {
      this.#at = now;
      this.#stale = false;
      this.#known = list().catch((error: unknown) => {
        sayError('The files of the workspace could not be listed', error);
        this.#stale = true;
        return { files: [], folders: [] };
      });
    }
    return known ?? (this.#known as Promise<Places>);
  }
}

async function list(): Promise<Places> {
  const uris = await vscode.workspace.findFiles('**/*', excluded(), MOST);
  const files = uris.map(placeOf);
  const folders = new Map<string, Place>();
  for (const file of files) {
    for (let place = parent(file); place; place = parent(place)) {
      if (folders.has(place.path)) break;
      folders.set(place.path, place);
    }
  }
  return { files, folders: [...folders.values()] };
}

/** What the editor leaves out of its own list of files and of its search. */
function excluded(): string | undefined {
  const patterns = ['files', 'search'].flatMap((section) => {
    const set = vscode.workspace.getConfiguration(section).get<Record<string, unknown>>('exclude', {});
    return Object.entries(set).flatMap(([pattern, on]) => (on === true ? [pattern] : []));
  });
  return patterns.length ? `{${[...new Set(patterns)].join(',')}}` : undefined;
}

function placeOf(uri: vscode.Uri): Place {
  return { path: uri.fsPath, relative: vscode.workspace.asRelativePath(uri).replaceAll('\\', '/') };
}

/** The folder that holds a file; none at the root. */
function parent(place: Place): Place | undefined {
  const at = place.relative.lastIndexOf('/');
  return at < 0 ? undefined : { path: path.dirname(place.path), relative: place.relative.slice(0, at) };
}

function openFiles(): Place[] {
  const tabs = vscode.window.tabGroups.all.flatMap((group) => group.tabs);
  const uris = tabs.flatMap((tab) => (tab.input instanceof vscode.TabInputText ? [tab.input.uri] : []));
  const places = uris.filter((uri) => uri.scheme === 'file').map(placeOf);
  return [...new Map(places.map((place) => [place.path, place])).values()];
}

function best(query: string, places: Place[], most: number): Found[] {
  const found = places.flatMap((place) => {
    const match = fuzzyPath(query, place.relative);
    return match ? [{ place, match }] : [];
  });
  found.sort((a, b) => b.match.score - a.match.score || a.place.relative.localeCompare(b.place.relative));
  return found.slice(0, most).map(({ place, match }) => {
    const at = place.relative.lastIndexOf('/');
    return {
      kind: 'file',
      name: place.relative.slice(at + 1),
      detail: at < 0 ? '' : place.relative.slice(0, at),
      path: place.path,
      insert: place.relative,
      hits: match.hits,
    };
  });
}

function asFolder(found: Found): Found {
  return { ...found, kind: 'folder', insert: `${found.insert}/` };
}
