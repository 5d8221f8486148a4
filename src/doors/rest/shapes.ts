/** The shapes that answers share, gathered from where the answers are made. */

import type { Pedido } from '../../fiscal/errors/row.ts';
import type { ErrorJson } from '../../published/errors/json.ts';
import type { Field, Shape, ShapeName } from '../../published/openapi/field.ts';
import { CATALOGO_SHAPES } from './catalogo-fields.ts';
import { ENVELOPE_SHAPES } from './envelope.ts';
import { EVENTO_FIELDS } from './eventos.ts';
import { NOTA_SHAPES } from './nota-fields.ts';
import { SITUACAO_SHAPES } from './situacao.ts';
import { VALIDACAO_SHAPES } from './validacao.ts';
import { VERIFICACAO_SHAPES } from './verificacao.ts';

const TRECHO = {
  xml: { type: 'string', optional: true, about: 'Trecho da DPS em XML.' },
  json: { type: 'string', optional: true, about: 'O mesmo no corpo JSON.' },
} as const;

const ALCANCE = ['geral', 'nacional', 'aviso'] as const;

/** Of the public table of errors, as programs read it. */
const ERRO_SHAPES = {
  CodigoDaTabela: {
    codigo: { type: 'string', formato: 'codigo', about: 'O código.' },
    situacao: { type: 'string', values: ['enviado', 'reservado', 'substituido'], about: 'Se alguma resposta o traz.' },
    substituido_por: { type: 'string', optional: true, formato: 'codigo', about: 'O código que tomou o seu lugar.' },
    status: { type: 'number', nullable: true, about: 'Status HTTP usual; null para um aviso.' },
    todos_os_status: { type: 'number[]', about: 'Todos os status com que ele vem.' },
    titulo: { type: 'string', about: 'O código em uma linha.' },
    significado: { type: 'string', about: 'O que significa e quando vem.' },
    como_resolver: { type: 'string', about: 'O que fazer.' },
    transitorio: { type: 'boolean', about: 'Se a mesma requisição, enviada de novo, pode ter sucesso.' },
    alcance: { type: 'string', values: ALCANCE, about: 'geral, nacional (na integração, aviso) ou aviso.' },
    a_quem_diz_respeito: { type: 'string', about: 'O alcance em palavras.' },
    origem: { type: 'string', about: 'De onde vem a regra.' },
    em_outros_sistemas: { type: 'string', optional: true, about: 'O que o número quer dizer no padrão nacional.' },
    caminhos: { type: 'LugarDoCodigo[]', about: 'Lugares da DPS de que o código fala.' },
    doc_url: { type: 'string', formato: 'endereco', about: 'Página do código.' },
    pedidos: { type: 'PedidoDeExemplo[]', optional: true, about: 'Requisições recusadas e aceitas, como texto.' },
    exemplos: { type: 'ExemplosDoCodigo[]', about: 'Trechos recusados e aceitos.' },
  } satisfies Readonly<Record<keyof ErrorJson, Field>>,
  LugarDoCodigo: {
    caminho: { type: 'string', about: 'Caminho na DPS ou na nota.' },
    campo: { type: 'string', optional: true, about: 'O que está em lugar dele no corpo JSON.' },
  } satisfies Readonly<Record<'caminho' | 'campo', Field>>,
  ExemplosDoCodigo: {
    caminho: { type: 'string', optional: true, about: 'O lugar de que os exemplos falam.' },
    alcance: { type: 'string', values: ALCANCE, about: 'O alcance da regra.' },
    recusados: { type: 'TrechoRecusado[]', about: 'O que é recusado.' },
    aceitos: { type: 'Trecho[]', about: 'O que é aceito.' },
  } satisfies Readonly<Record<keyof ErrorJson['exemplos'][number], Field>>,
  PedidoDeExemplo: {
    titulo: { type: 'string', optional: true, about: 'O que o exemplo mostra.' },
    recusado: { type: 'string', about: 'A requisição recusada.' },
    aceito: { type: 'string', about: 'A aceita.' },
  } satisfies Readonly<Record<keyof Pedido, Field>>,
  Trecho: TRECHO,
  TrechoRecusado: { ...TRECHO, respostas: { type: 'string[]', about: 'Os códigos da resposta.' } },
} as const;

export const SHAPES: Readonly<Record<ShapeName, Shape>> = {
  ...NOTA_SHAPES,
  ...ENVELOPE_SHAPES,
  Detalhes: 'texto_ou_objeto',
  Evento: {
    ...EVENTO_FIELDS,
    // The marker is part of every event object (specification, "Event object").
    status: { type: 'string', values: ['OK'], about: 'OK em todo evento.' },
  },
  ErrosAdn: 'objeto',
  ...VALIDACAO_SHAPES,
  ...VERIFICACAO_SHAPES,
  ...SITUACAO_SHAPES,
  ...CATALOGO_SHAPES,
  ...ERRO_SHAPES,
};
