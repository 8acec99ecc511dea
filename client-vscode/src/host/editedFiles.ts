/** Which files a workspace edit leaves behind with new text. */

import type { WorkspaceEdit } from 'vscode-languageserver-protocol';

/** Addresses in the order of the edit, each once; files that the edit deletes or moves away are not among them. */
export function editedFiles(edit: WorkspaceEdit): string[] {
  const files = new Set<string>(Object.keys(edit.changes ?? {}));
  for (const change of edit.documentChanges ?? []) {
    if (!('kind' in change)) files.add(change.textDocument.uri);
    else if (change.kind === 'create') files.add(change.uri);
    else if (change.kind === 'delete') files.delete(change.uri);
    else {
      files.delete(change.oldUri);
      files.add(change.newUri);
    }
  }
  return [...files];
}
