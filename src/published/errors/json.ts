/** The public table of errors for programs: `GET /docs/erros.json`, with the content of the pages. */

import type { PublicError } from '../../fiscal/errors/row.ts';
import { type Case, type Fragment, pageOf, type Sample } from './page.ts';

/** One code with the published names of its fields, which the shape `CodigoDaTabela` describes. */
export type ErrorJson = ReturnType<typeof errorJson>;

/** One code; `pages`: the address of the index above the pages of the codes. */
export function errorJson(error: PublicError, pages: string) {
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

function caseJson({ at, alcance, rejected, accepted }: Case, ofCode: PublicError['alcance']) {
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

function sampleJson({ xml, json }: Sample) {
  return { ...(xml === undefined ? {} : { xml: textOf(xml) }), ...(json === undefined ? {} : { json: textOf(json) }) };
}

function textOf(fragment: Fragment): string {
  return fragment.map(({ text }) => text).join('\n');
}
