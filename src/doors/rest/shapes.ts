/** The shapes that answers share, collected from the modules of those answers. */

import { ENVELOPE_SHAPES } from '../../base/http/envelope.ts';
import type { Pedido } from '../../fiscal/errors/row.ts';
import type { ErrorJson } from '../../published/errors/json.ts';
import { type FieldsOf, field, orAbsent, orNull, type Shape, type ShapeName } from '../../published/openapi/field.ts';
import { loadParts } from '../../subjects/subjects.ts';

const TRECHO = {
  xml: orAbsent(field.text('Trecho da DPS em XML.')),
  json: orAbsent(field.text('O mesmo no corpo JSON.')),
} as const;

const ALCANCE = ['geral', 'nacional', 'aviso'] as const;

/** Shapes of the public table of errors, as programs read it. */
const ERRO_SHAPES = {
  CodigoDaTabela: {
    codigo: field.errorCode('O código.'),
    situacao: field.choice(['enviado', 'reservado', 'substituido'], 'Se alguma resposta o traz.'),
    substituido_por: orAbsent(field.errorCode('O código que tomou o seu lugar.')),
    status: orNull(field.integer('Status HTTP usual; null para um aviso.')),
    todos_os_status: { type: 'number[]', about: 'Todos os status com que ele vem.' },
    titulo: field.text('O código em uma linha.'),
    significado: field.text('O que significa e quando vem.'),
    como_resolver: field.text('O que fazer.'),
    transitorio: field.flag('Se a mesma requisição, enviada de novo, pode ter sucesso.'),
    alcance: field.choice(ALCANCE, 'geral, nacional (na integração, aviso) ou aviso.'),
    a_quem_diz_respeito: field.text('O alcance em palavras.'),
    origem: field.text('De onde vem a regra.'),
    em_outros_sistemas: orAbsent(field.text('O que o número quer dizer no padrão nacional.')),
    caminhos: field.shape('LugarDoCodigo[]', 'Lugares da DPS de que o código fala.'),
    doc_url: field.address('Página do código.'),
    pedidos: orAbsent(field.shape('PedidoDeExemplo[]', 'Requisições recusadas e aceitas, como texto.')),
    exemplos: field.shape('ExemplosDoCodigo[]', 'Trechos recusados e aceitos.'),
  } satisfies FieldsOf<ErrorJson>,
  LugarDoCodigo: {
    caminho: field.text('Caminho na DPS ou na nota.'),
    campo: orAbsent(field.text('O que está em lugar dele no corpo JSON.')),
  } satisfies FieldsOf<ErrorJson['caminhos'][number]>,
  ExemplosDoCodigo: {
    caminho: orAbsent(field.text('O lugar de que os exemplos falam.')),
    alcance: field.choice(ALCANCE, 'O alcance da regra.'),
    recusados: field.shape('TrechoRecusado[]', 'O que é recusado.'),
    aceitos: field.shape('Trecho[]', 'O que é aceito.'),
  } satisfies FieldsOf<ErrorJson['exemplos'][number]>,
  PedidoDeExemplo: {
    titulo: orAbsent(field.text('O que o exemplo mostra.')),
    recusado: field.text('A requisição recusada.'),
    aceito: field.text('A aceita.'),
  } satisfies FieldsOf<Pedido>,
  Trecho: TRECHO,
  TrechoRecusado: { ...TRECHO, respostas: field.texts('Os códigos da resposta.') },
} as const;

export const SHAPES: Readonly<Record<ShapeName, Shape>> = Object.assign(
  { ...ENVELOPE_SHAPES, Detalhes: 'texto_ou_objeto', ...ERRO_SHAPES },
  ...(await loadParts(({ shapes }) => shapes)),
);
