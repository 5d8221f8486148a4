/** The table of the specification, "Events", and the fields and lists of Anexo II v1.01, row by row. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { REFUSALS, SHAPES, SPECIFIED } from '../../test/especificacao/eventos.ts';
import { checkText } from './layout/check-text.ts';
import {
  type CampoEvento,
  exemploDe,
  TIPOS_EVENTO,
  type TipoEvento,
  tipoByCodigo,
  tipoBySlug,
} from './tipos-evento.ts';

const TIPOS: readonly TipoEvento[] = TIPOS_EVENTO;

describe('the types', () => {
  test('stand in the order of the specification', () => {
    assert.deepEqual(
      TIPOS.map(({ codigo }) => codigo),
      SPECIFIED.map(([codigo]) => codigo),
    );
  });

  test('have their row in each table of test/especificacao/eventos.ts', () => {
    const missing = TIPOS.filter(({ codigo }) => !(codigo in SHAPES && codigo in REFUSALS));
    assert.deepEqual(
      missing.map(({ slug }) => slug),
      [],
    );
  });

  for (const [codigo, slug, autor, oficio, cancela, soAqui] of SPECIFIED) {
    test(`${codigo} ${slug}`, () => {
      const tipo = tipoBySlug(slug!)!;
      assert.equal(tipo, tipoByCodigo(codigo!));
      assert.deepEqual(
        [tipo.codigo, tipo.slug, tipo.autor, tipo.porOficio, tipo.cancela, tipo.soAqui],
        [
          codigo,
          slug,
          autor === '-' ? undefined : autor,
          oficio === 'oficio',
          cancela === 'cancela',
          soAqui === 'soAqui',
        ],
      );
    });
  }

  test('there are no others', () => {
    assert.equal(tipoBySlug('carta_de_correcao'), undefined);
    assert.equal(tipoBySlug('constructor'), undefined);
    assert.equal(tipoByCodigo('110110'), undefined);
  });
});

describe('the fields of each type', () => {
  for (const [codigo, { xDesc, elements }] of Object.entries(SHAPES)) {
    test(`${codigo}: xDesc ${elements}`, () => {
      const tipo = tipoByCodigo(codigo)!;
      const told = tipo.campos.map(
        ({ elemento, obrigatorio, tipo: { min, max } }) => `${elemento}${obrigatorio ? '!' : '?'}${min}-${max}`,
      );
      assert.equal(tipo.descricao, xDesc);
      assert.equal(told.join(' '), elements);
    });
  }

  test('have the names of the specification and ours', () => {
    for (const { codigo, campos } of TIPOS_EVENTO) {
      assert.equal(campos.map(({ nome }) => nome).join(' '), SHAPES[codigo]!.names, codigo);
    }
  });

  test('the description is required with the reason that says only that it is another (E0078, E1944, E1949, E1954)', () => {
    const conditional = TIPOS.flatMap(({ codigo, campos }) =>
      campos.flatMap(({ nome, obrigatorioCom }) =>
        obrigatorioCom === undefined ? [] : [[codigo, nome, obrigatorioCom.campo, obrigatorioCom.valor].join(' ')],
      ),
    );
    assert.deepEqual(conditional, [
      '105102 descricao_motivo_cancelamento codigo_motivo_cancelamento 99',
      '202205 descricao_motivo_rejeicao codigo_motivo_rejeicao 9',
      '203206 descricao_motivo_rejeicao codigo_motivo_rejeicao 9',
      '204207 descricao_motivo_rejeicao codigo_motivo_rejeicao 9',
    ]);
  });
});

const REJEICAO = [
  '1 1 NFS-e em duplicidade',
  '2 2 NFS-e já emitida pelo tomador',
  '3 3 Não ocorrência do fato gerador',
  '4 4 Erro quanto a responsabilidade tributária',
  '5 5 Erro quanto ao valor do serviço, valor das deduções ou serviço prestado ou data do fato gerador',
  '9 9 Outros',
];
const CANCELAMENTO = ['1 1 Erro na Emissão', '2 2 Serviço não Prestado', '9 9 Outros'];

/** Lists of Anexo II v1.01 and schema 1.01: the sent code, the stored value, and the meaning. */
const LISTS: Readonly<Record<string, readonly string[]>> = {
  '101101 cMotivo': CANCELAMENTO,
  '105102 cMotivo': [
    '01 1 Desenquadramento de NFS-e do Simples Nacional',
    '02 2 Enquadramento de NFS-e no Simples Nacional',
    '03 3 Inclusão Retroativa de Imunidade/Isenção para NFS-e',
    '04 4 Exclusão Retroativa de Imunidade/Isenção para NFS-e',
    '05 5 Rejeição de NFS-e pelo tomador ou pelo intermediário se responsável pelo recolhimento do tributo',
    '99 99 Outros',
  ],
  '101103 cMotivo': CANCELAMENTO,
  '105104 cMotivo': ['1 1 Cancelamento de NFS-e Deferido'],
  '105105 cMotivo': [
    '1 1 Cancelamento de NFS-e Indeferido',
    '2 2 Cancelamento de NFS-e Indeferido Sem Análise de Mérito',
  ],
  '202205 cMotivo': REJEICAO,
  '203206 cMotivo': REJEICAO,
  '204207 cMotivo': REJEICAO,
  '305102 codEvento': [
    'e101101 101101 Cancelamento de NFS-e',
    'e105102 105102 Cancelamento de NFS-e por Substituição',
    'e105104 105104 Cancelamento de NFS-e Deferido por Análise Fiscal',
    'e105105 105105 Cancelamento de NFS-e Indeferido por Análise Fiscal',
    'e305101 305101 Cancelamento de NFS-e por Ofício',
  ],
};

describe('the lists', () => {
  const all: readonly (readonly [string, CampoEvento])[] = TIPOS.flatMap(({ codigo, campos }) =>
    campos.filter(({ opcoes }) => opcoes !== undefined).map((campo) => [`${codigo} ${campo.elemento}`, campo] as const),
  );

  test('are those of the annex', () => {
    assert.deepEqual(
      all.map(([name]) => name),
      Object.keys(LISTS),
    );
  });

  for (const [name, campo] of all) {
    test(`${name} has its values, and its type no others`, () => {
      const told = campo.opcoes!.map(({ codigo, valor, descricao }) => `${codigo} ${valor} ${descricao}`);
      assert.deepEqual(told, LISTS[name]);
      assert.deepEqual(
        campo.tipo.values,
        campo.opcoes!.map(({ codigo }) => codigo),
      );
    });
  }
});

describe('the examples', () => {
  for (const tipo of TIPOS) {
    test(`of ${tipo.slug} are right values`, () => {
      for (const { nome, tipo: type, exemplo, sobre } of tipo.campos) {
        assert.equal(checkText(type, exemplo), undefined, nome);
        assert.match(sobre, /\.$/);
      }
      assert.deepEqual(Object.keys(exemploDe(tipo)), ['tipo_evento', ...tipo.campos.map(({ nome }) => nome)]);
      assert.equal(exemploDe(tipo)['tipo_evento'], tipo.slug);
    });
  }
});
