/** The table of the specification, "Events", and the fields and lists of Anexo II v1.01, row by row. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
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

/** Code, slug, inferred author (Endpoints), whether E9016 refuses it (D-50), whether it cancels the note (D-21), E1818. */
const SPECIFIED = `
  101101 cancelamento                                   prestador     -        cancela -
  105102 cancelamento_por_substituicao                  prestador     -        cancela -
  101103 solicitacao_analise_fiscal_para_cancelamento   prestador     -        -       -
  105104 cancelamento_deferido_por_analise_fiscal       -             oficio   cancela -
  105105 cancelamento_indeferido_por_analise_fiscal     -             oficio   -       -
  202201 confirmacao_prestador                          prestador     -        -       soAqui
  203202 confirmacao_tomador                            tomador       -        -       soAqui
  204203 confirmacao_intermediario                      intermediario -        -       soAqui
  205204 confirmacao_tacita                             -             oficio   -       -
  202205 rejeicao_prestador                             prestador     -        -       soAqui
  203206 rejeicao_tomador                               tomador       -        -       soAqui
  204207 rejeicao_intermediario                         intermediario -        -       soAqui
  205208 anulacao_rejeicao                              -             oficio   -       -
  305101 cancelamento_por_oficio                        -             oficio   cancela -
  305102 bloqueio_por_oficio                            -             oficio   -       -
  305103 desbloqueio_por_oficio                         -             oficio   -       -`
  .trim()
  .split('\n')
  .map((line) => line.trim().split(/\s+/));

describe('the sixteen types', () => {
  test('stand in the order of the specification', () => {
    assert.deepEqual(
      TIPOS.map(({ codigo }) => codigo),
      SPECIFIED.map(([codigo]) => codigo),
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

/** Fields of Anexo II: element, `!` required, `?` optional, and the lengths of the schema. `xDesc` stands in every type. */
const FIELDS: Readonly<Record<string, readonly [xDesc: string, campos: string]>> = {
  '101101': ['Cancelamento de NFS-e', 'cMotivo!1-1 xMotivo!15-255'],
  '105102': ['Cancelamento de NFS-e por Substituição', 'cMotivo!2-2 xMotivo?15-255 chSubstituta!50-50'],
  '101103': ['Solicitação de Análise Fiscal para Cancelamento de NFS-e', 'cMotivo!1-1 xMotivo!15-255'],
  '105104': [
    'Cancelamento de NFS-e Deferido por Análise Fiscal',
    'CPFAgTrib!11-11 nProcAdm?1-30 cMotivo!1-1 xMotivo!15-255',
  ],
  '105105': [
    'Cancelamento de NFS-e Indeferido por Análise Fiscal',
    'CPFAgTrib!11-11 nProcAdm?1-30 cMotivo!1-1 xMotivo!15-255',
  ],
  '202201': ['Manifestação de NFS-e - Confirmação do Prestador', ''],
  '203202': ['Manifestação de NFS-e - Confirmação do Tomador', ''],
  '204203': ['Manifestação de NFS-e - Confirmação do Intermediário', ''],
  '205204': ['Manifestação de NFS-e - Confirmação Tácita', ''],
  '202205': ['Manifestação de NFS-e - Rejeição do Prestador', 'cMotivo!1-1 xMotivo?15-255'],
  '203206': ['Manifestação de NFS-e - Rejeição do Tomador', 'cMotivo!1-1 xMotivo?15-255'],
  '204207': ['Manifestação de NFS-e - Rejeição do Intermediário', 'cMotivo!1-1 xMotivo?15-255'],
  '205208': ['Manifestação de NFS-e - Anulação da Rejeição', 'CPFAgTrib!11-11 idEvManifRej!56-62 xMotivo!15-255'],
  '305101': ['Cancelamento de NFS-e por Ofício', 'CPFAgTrib!11-11 nProcAdm!1-30 xProcAdm!15-255'],
  '305102': ['Bloqueio de NFS-e por Ofício', 'CPFAgTrib!11-11 codEvento!7-7 xMotivo!15-255'],
  '305103': ['Desbloqueio de NFS-e por Ofício', 'CPFAgTrib!11-11 idBloqOfic!56-62'],
};

describe('the fields of each type', () => {
  for (const [codigo, [xDesc, campos]] of Object.entries(FIELDS)) {
    test(`${codigo}: xDesc ${campos}`, () => {
      const tipo = tipoByCodigo(codigo)!;
      const told = tipo.campos.map(
        ({ elemento, obrigatorio, tipo: { min, max } }) => `${elemento}${obrigatorio ? '!' : '?'}${min}-${max}`,
      );
      assert.equal(tipo.descricao, xDesc);
      assert.equal(told.join(' '), campos);
    });
  }

  test('have the names of the specification and ours', () => {
    const names: Readonly<Record<string, string>> = {
      '101101': 'codigo_motivo_cancelamento descricao_motivo_cancelamento',
      '105102': 'codigo_motivo_cancelamento descricao_motivo_cancelamento chave_acesso_substituta',
      '101103': 'codigo_motivo_cancelamento descricao_motivo_cancelamento',
      '105104': 'cpf_agente_tributario numero_processo_administrativo codigo_motivo descricao_motivo',
      '105105': 'cpf_agente_tributario numero_processo_administrativo codigo_motivo descricao_motivo',
      '202205': 'codigo_motivo_rejeicao descricao_motivo_rejeicao',
      '203206': 'codigo_motivo_rejeicao descricao_motivo_rejeicao',
      '204207': 'codigo_motivo_rejeicao descricao_motivo_rejeicao',
      '205208': 'cpf_agente_tributario id_evento_rejeicao descricao_motivo',
      '305101': 'cpf_agente_tributario numero_processo_administrativo descricao_processo_administrativo',
      '305102': 'cpf_agente_tributario codigo_evento_bloqueado descricao_motivo',
      '305103': 'cpf_agente_tributario id_evento_bloqueio',
    };
    for (const { codigo, campos } of TIPOS) {
      assert.equal(campos.map(({ nome }) => nome).join(' '), names[codigo] ?? '', codigo);
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

/** Lists of Anexo II v1.01 and schema 1.01: as sent, as kept, and what it means. */
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
      assert.equal(exemploDe(tipo).tipo_evento, tipo.slug);
    });
  }
});
