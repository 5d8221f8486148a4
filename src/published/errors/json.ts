/** The public table of errors for programs: `GET /docs/erros.json`, with the content of the pages. */

import type { Pedido, PublicError } from '../../fiscal/errors/row.ts';
import { type Case, type Fragment, pageOf, type Sample } from './page.ts';

type SampleJson = { readonly xml?: string; readonly json?: string };

/** One code, with the published names of its fields. */
export type ErrorJson = {
  readonly codigo: string;
  /** `enviado`, `reservado` (nothing sends it yet) or `substituido` (an older name; `substituido_por` is sent). */
  readonly situacao: PublicError['situacao'];
  readonly substituido_por?: string;
  /** The usual status; null for a remark, which comes with an issued note. */
  readonly status: number | null;
  readonly todos_os_status: readonly number[];
  readonly titulo: string;
  readonly significado: string;
  readonly como_resolver: string;
  readonly transitorio: boolean;
  readonly alcance: PublicError['alcance'];
  /** What `alcance` means for the two environments, in words. */
  readonly a_quem_diz_respeito: string;
  readonly origem: string;
  readonly em_outros_sistemas?: string;
  /** Places of the DPS or of the note, each with its name in a JSON body. */
  readonly caminhos: readonly { readonly caminho: string; readonly campo?: string }[];
  readonly doc_url: string;
  /** Requests as text, or the lines of a document that matter. */
  readonly pedidos?: readonly Pedido[];
  readonly exemplos: readonly {
    readonly caminho?: string;
    readonly alcance: PublicError['alcance'];
    readonly recusados: readonly (SampleJson & { readonly respostas: readonly string[] })[];
    readonly aceitos: readonly SampleJson[];
  }[];
};

/** One code; `pages`: the address of the index, whose children are the pages of the codes. */
export function errorJson(error: PublicError, pages: string): ErrorJson {
  const { codigo, status, statuses, situacao, substituidoPor, alcance, nacional } = error;
  const { reach, fields, cases } = pageOf(error);
  return {
    codigo,
    situacao,
    ...(substituidoPor === undefined ? {} : { substituido_por: substituidoPor }),
    status: status === 'aviso' ? null : status,
    todos_os_status: statuses,
    titulo: error.mensagem,
    significado: error.significado,
    como_resolver: error.comoResolver,
    transitorio: error.transitorio,
    alcance,
    a_quem_diz_respeito: reach,
    origem: error.origem,
    ...(nacional === undefined ? {} : { em_outros_sistemas: nacional }),
    caminhos: fields.map(({ path, campo }) => ({ caminho: path, ...(campo === undefined ? {} : { campo }) })),
    doc_url: `${pages}/${codigo}`,
    ...(error.pedidos.length === 0 ? {} : { pedidos: error.pedidos }),
    exemplos: cases.map((one) => caseJson(one, alcance)),
  };
}

function caseJson(
  { at, alcance, rejected, accepted }: Case,
  ofCode: PublicError['alcance'],
): ErrorJson['exemplos'][number] {
  return {
    ...(at === undefined ? {} : { caminho: at }),
    alcance: alcance ?? ofCode,
    recusados: rejected.map(({ sample, answers }) => ({
      ...sampleJson(sample),
      respostas: [...new Set(answers.map(({ codigo }) => codigo))],
    })),
    aceitos: accepted.map(sampleJson),
  };
}

function sampleJson({ xml, json }: Sample): SampleJson {
  return { ...(xml === undefined ? {} : { xml: textOf(xml) }), ...(json === undefined ? {} : { json: textOf(json) }) };
}

function textOf(fragment: Fragment): string {
  return fragment.map(({ text }) => text).join('\n');
}
