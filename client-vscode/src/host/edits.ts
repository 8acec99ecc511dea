/** `workspace/applyEdit`: apply, then save what was edited, so that the agent's next step sees it on disk. */

import * as vscode from 'vscode';
import type {
  ApplyWorkspaceEditParams,
  ApplyWorkspaceEditResult,
  Middleware,
} from 'vscode-languageclient/node';

import { sayError } from '../log';
import { readSettings } from '../settings';
import { editedFiles } from './editedFiles';

type HandleApplyEdit = NonNullable<NonNullable<Middleware['workspace']>['handleApplyEdit']>;

/** One undo step and no change of focus: nothing is opened or shown, only the edited files are saved. */
export const handleApplyEdit: HandleApplyEdit = async (params, next) => {
  const dirty = new Set(
    vscode.workspace.textDocuments
      .filter((document) => document.isDirty)
      .map((document) => String(document.uri)),
  );
  const result = (await next(params, neverCancelled)) as ApplyWorkspaceEditResult;
  if (!result.applied) return result;
  const failed = await saveEdited(params, dirty);
  return failed.length ? { ...result, failureReason: `not saved: ${failed.join(', ')}` } : result;
};

const neverCancelled = new vscode.CancellationTokenSource().token;

/** Saves the edited files and gives back those that could not be saved. */
async function saveEdited(params: ApplyWorkspaceEditParams, dirty: ReadonlySet<string>): Promise<string[]> {
  const keep = readSettings().unsavedBuffers === 'keep';
  const failed: string[] = [];
  for (const address of editedFiles(params.edit)) {
    const uri = vscode.Uri.parse(address);
    if (uri.scheme !== 'file' || (keep && dirty.has(String(uri)))) continue;
    try {
      const document = await vscode.workspace.openTextDocument(uri);
      if (document.isDirty && !(await document.save())) failed.push(uri.fsPath);
    } catch (error) {
      sayError(`${uri.fsPath} could not be saved`, error);
      failed.push(uri.fsPath);
    }
  }
  return failed;
}
