/**
 * The second step of an act that is not undone (D-840). Its form carries the content of the first step, and the state that was shown, under
 * a seal. An act happens only on sealed content, and while that state lasts.
 */
import { randomUUID } from 'node:crypto';
import { carried, form, notice } from '../../base/pages/fields.ts';
import { carrySeen, findOvertaken, type Overtaken, SEEN_FIELD, type Values } from '../../base/pages/seen.ts';
import type { Inside } from '../../base/pages/visit.ts';
import { type Html, html } from '../../published/site/page-shell.ts';
import { formTokenOf, sealOf } from './entrada.ts';

const [VEZ, SELO, VOLTAR] = ['vez', 'selo', 'voltar'] as const;

/** `state`: name and value in words of everything that the act depends on. */
export type SecondStep = {
  readonly action: string;
  readonly content: Values;
  readonly state: Values;
  readonly button: string;
};

/** The form of the second step; the way back carries the same content. */
export function confirmForm({ visitor }: Inside, { action, content, state, button }: SecondStep): Html {
  const vez = randomUUID();
  const selo = sealOf(visitor, textOf(action, content, JSON.stringify(state), vez));
  return form({
    action,
    token: formTokenOf(visitor),
    fields: [
      carried(Object.entries(content)),
      carrySeen(state),
      carried([
        [VEZ, vez],
        [SELO, selo],
      ]),
    ],
    button,
    isGrave: true,
    beside: html`<button class="simples" name="${VOLTAR}" value="1">Voltar e corrigir</button>`,
  });
}

/** The person who acts, for the second step. */
export function namePessoa({ visitor: { conta } }: Inside): string {
  return `${conta.nome} (${conta.login})`;
}

/** Whether the reader goes back from the second step to the first one. */
export function goesBack({ form: sent }: Inside): boolean {
  return sent.text(VOLTAR) !== '';
}

/** The number of a second step, whose content came back as it was shown. Undefined: no such step was shown. */
export function readSealed({ visitor, form: sent }: Inside, action: string, content: Values): string | undefined {
  const vez = sent.text(VEZ);
  const isSealed = sent.text(SELO) === sealOf(visitor, textOf(action, content, sent.text(SEEN_FIELD), vez));
  return isSealed ? vez : undefined;
}

function textOf(action: string, content: Values, seen: string, vez: string): string {
  return JSON.stringify([action, Object.entries(content), seen, vez]);
}

/** The values of the state that changed since the second step was shown. */
export function findChanged({ form: sent }: Inside, state: Values): readonly Overtaken[] {
  return findOvertaken(sent, state);
}

/** A notice of the changes; nothing was done, and the second step stands below it. */
export function tellChanged(changed: readonly Overtaken[]): Html | undefined {
  if (changed.length === 0) return undefined;
  const lines = changed.map(
    ({ name, seen, now }) => html`<li>${name}: era «${seen || 'nenhum'}», agora é «${now || 'nenhum'}»</li>\n`,
  );
  return notice(
    'aviso',
    html`<p>Isto mudou depois que a página foi mostrada, e nada foi feito:</p><ul>${lines}</ul><p>Confira de novo, e confirme se ainda é o que quer.</p>`,
  );
}
