/** A permission request and its answer as values: what the card shows, what goes back, what the transcript keeps. */

import type {
  Json,
  PermissionAnswer,
  PermissionDetail,
  PermissionOption,
  RequestPermission,
} from '../protocol';

/** What a person answered, wherever the question was shown. */
export interface Answer {
  optionId: string;
  feedback?: string;
  command?: string;
  /** Kept in place of the rules that were offered. */
  rules?: string[];
}

/** The detail that the server gave, filled from the plain request where it gave none. */
export function detailOf(params: RequestPermission, meta: Json): PermissionDetail {
  const title = params.toolCall['title'];
  const call = params.toolCall['toolCallId'];
  return {
    id: typeof call === 'string' ? `ask:${call}` : 'ask',
    kind: 'other',
    tool: '',
    title: typeof title === 'string' ? title : '',
    why: '',
    ...(meta as Partial<PermissionDetail>),
  };
}

/** What is sent back; an edited command goes along as the call's new input. */
export function outcomeOf(answer: Answer, detail: PermissionDetail, input: Json): PermissionAnswer {
  const ours: Json = {};
  if (answer.feedback) ours['feedback'] = answer.feedback;
  if (answer.rules && detail.rulesEditable) ours['rules'] = answer.rules;
  if (answer.command !== undefined && answer.command !== detail.command) {
    ours['updatedInput'] = { ...input, command: answer.command };
  }
  const outcome = { outcome: 'selected' as const, optionId: answer.optionId };
  return { outcome: Object.keys(ours).length ? { ...outcome, _meta: { sidelight: ours } } : outcome };
}

/** The row that stays in the transcript. */
export function lineOf(option: PermissionOption, answer: Answer): string {
  if (answer.rules?.length) return `${option.name}: ${answer.rules.join(', ')}`;
  return answer.feedback ? `${option.name}: “${answer.feedback}”` : option.name;
}
