/** The request of an event as options of a command: `--tipo` and `--campo nome=valor` become the JSON body, and back. */

import { type Options, textOf, textsOf, type Values } from '../../base/terminal/command.ts';
import { columns, type FaultText, quoteArgument } from '../../base/terminal/text.ts';
import { type CampoEvento, TIPOS_EVENTO, type TipoEvento } from '../../fiscal/tipos-evento.ts';

export const CORPO_OPTIONS = {
  tipo: { takes: 'NOME', help: 'o tipo do evento; os nomes estão abaixo' },
  campo: {
    takes: 'NOME=VALOR',
    help: 'um campo do tipo; repita a opção para cada um, e ponha entre aspas o que tem espaços',
    isRepeated: true,
  },
} as const satisfies Options;

/** The JSON body from `--tipo` and `--campo`, after the fields of `more`; a text: the wrong usage. */
export function corpoOf(values: Values, more: Readonly<Record<string, string>> = {}): Uint8Array | string {
  const tipo = textOf(values, 'tipo');
  if (tipo === undefined) return 'Falta --tipo NOME: qual evento registrar. --help mostra os tipos e os campos.\n';
  const body = new Map([['tipo_evento', tipo]]);
  for (const campo of textsOf(values, 'campo')) {
    const at = campo.indexOf('=');
    if (at < 1) return `--campo ${campo} não tem a forma NOME=VALOR.\n`;
    const nome = campo.slice(0, at);
    if (nome === 'tipo_evento') return 'O tipo do evento vai em --tipo, e não em --campo.\n';
    if (body.has(nome)) return `--campo ${nome} veio mais de uma vez.\n`;
    body.set(nome, campo.slice(at + 1));
  }
  return Buffer.from(JSON.stringify({ ...more, ...Object.fromEntries(body) }));
}

/** Faults of a body made of options. Lines are left out, since the user wrote none; a correction becomes an option. */
export function faultsOfOptions(faults: readonly FaultText[]): readonly FaultText[] {
  return faults.map(({ linha: _, coluna: __, campo, correcao, ...fault }) => ({
    ...fault,
    xpath: '',
    ...(campo === undefined ? {} : { campo: campo === 'tipo_evento' ? '--tipo' : campo }),
    ...(correcao === undefined ? {} : { correcao: optionOf(correcao) }),
  }));
}

/** A JSON correction, as `"codigo_motivo": "1"`, in the form of the option to type. */
function optionOf(correcao: string): string {
  try {
    const [[nome, valor] = []] = Object.entries(JSON.parse(`{${correcao}}`));
    if (nome === undefined || typeof valor !== 'string') return correcao;
    return nome === 'tipo_evento' ? `--tipo ${valor}` : `--campo ${quoteArgument(`${nome}=${valor}`)}`;
  } catch {
    return correcao;
  }
}

/** The event types that a command takes, with their fields, for its help. */
export function tiposHelp(takes: (tipo: TipoEvento) => boolean): readonly string[] {
  const tipos: readonly TipoEvento[] = TIPOS_EVENTO.filter(takes);
  const rows = tipos.flatMap(({ slug, descricao, campos }): (readonly [string, string])[] => [
    [slug, descricao],
    ...campos.map((campo) => [`    ${campo.nome}`, aboutCampo(campo)] as const),
  ]);
  return ['', 'Tipos, e os campos de cada um:', ...columns(rows)];
}

function aboutCampo({ sobre, opcoes, obrigatorio, obrigatorioCom }: CampoEvento): string {
  const needed = obrigatorio
    ? ''
    : obrigatorioCom === undefined
      ? ' Não é obrigatório.'
      : ` Só é obrigatório com ${obrigatorioCom.campo} ${obrigatorioCom.valor}.`;
  const values = opcoes?.map(({ codigo, descricao }) => `${codigo} (${descricao})`).join(', ');
  return `${sobre}${needed}${values === undefined ? '' : ` Vale: ${values}.`}`;
}
