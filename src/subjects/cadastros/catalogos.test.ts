// The catalogs over HTTP: each row of the specification's table, the envelope and its limits, the cache time, and the refusals. The numbers
// of items come from the README of the source tables, or from public knowledge.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { SPECIFIED } from '../../../test/especificacao/eventos.ts';
import { monotonicClock } from '../../../test/support/clock.ts';
import { type Answer, emit, request } from '../../../test/support/http.ts';
import { noneScans, recorded, type Statements } from '../../../test/support/plans.ts';
import { startTestService } from '../../../test/support/service.ts';
import { ROUTES } from '../../doors/rest/routes.ts';
import { parseDecimal } from '../../fiscal/decimal.ts';
import { exampleXml } from '../../fiscal/rules/example.ts';
import { createStore } from '../../wiring/store.ts';
import { CATALOGO_SHAPES } from './catalogo-fields.rest.ts';
import { CATALOGOS } from './catalogos.rest.ts';

/** Rows of the source tables, from the README that came with them (compiled on 21/11/2026). */
const TOTAIS = {
  codigos_tributacao_nacional: 338,
  nbs: 917,
  municipios: 5571,
  paises: 250,
  moedas: 163,
} as const;
const OPCOES_DE_EVENTO = 38;
/** The store's cache time. */
const FRESH_MS = 2_000;

const service = await startTestService();
const { address, store, pool, clock } = service;
await store.municipios.create({ tenant: 'exemplo', ambiente: 'producao', codigoIbge: '3550308' }, clock.now);
await store.municipios.create({ tenant: 'vizinho', ambiente: 'producao', codigoIbge: '3304557' }, clock.now);
// Each list that a test changes belongs to that test alone.
for (const tenant of ['lista-que-cresce', 'lista-com-etiqueta']) {
  await store.municipios.create({ tenant, ambiente: 'homologacao', codigoIbge: undefined }, clock.now);
}
await store.municipios.create(
  { tenant: 'sem-lista', ambiente: 'producao', codigoIbge: '1200401', aliquotaPadrao: parseDecimal('3.50') },
  clock.now,
);

function catalogo(nome: string, query: Record<string, string> = {}, tenant = 'integracao'): Promise<Answer> {
  const search = new URLSearchParams(query).toString();
  return request(address, `/${tenant}/api/v1/catalogo/${nome}${search === '' ? '' : `?${search}`}`);
}

/** The items of a page that must exist. */
async function itens(nome: string, query: Record<string, string> = {}, tenant?: string): Promise<Answer['body'][]> {
  const answer = await catalogo(nome, query, tenant);
  assert.equal(answer.status, 200, JSON.stringify(answer.body));
  return answer.body.itens;
}

async function codigos(nome: string, query: Record<string, string>, key = 'codigo'): Promise<string[]> {
  return (await itens(nome, { per_page: '100', ...query })).map((item) => item[key]);
}

/** Every item of a list, page after page, as a client would read it. */
async function all(nome: string): Promise<Answer['body'][]> {
  const found: Answer['body'][] = [];
  for (let page = 1; ; page++) {
    const { body } = await catalogo(nome, { page: String(page), per_page: '100' });
    found.push(...body.itens);
    assert.equal(body.paginacao.pagina_atual, page);
    if (page >= body.paginacao.total_paginas) return found;
  }
}

async function total(nome: string, query: Record<string, string> = {}): Promise<number> {
  return (await catalogo(nome, query)).body.paginacao.total;
}

type Line = { codigo: string; descricao: string; nacional?: string; cnae?: string; aliquota?: string };

async function listed(tenant: string, lines: readonly (Line & { inicio?: string; fim?: string })[]): Promise<void> {
  for (const { codigo, descricao, nacional = '010101', cnae, aliquota, inicio = '2026-01-01', fim } of lines) {
    await pool.query(
      `insert into servicos_municipais (tenant, codigo, descricao, codigo_tributacao_nacional, cnae_codigo, aliquota, inicio, fim)
       values ($1, $2, $3, $4, $5, $6, $7, $8)`,
      [tenant, codigo, descricao, nacional, cnae, aliquota, inicio, fim],
    );
  }
}

// Today is 21/11/2026 in São Paulo.
await listed('exemplo', [
  { codigo: '101', descricao: 'Análise de sistemas', cnae: '6201501', aliquota: '2.90' },
  { codigo: '102', descricao: 'PROGRAMAÇÃO', nacional: '010201', cnae: '6201501' },
  { codigo: '103', descricao: 'Reforma de edifícios', nacional: '070501', cnae: '4330499', aliquota: '5.00' },
  { codigo: '104', descricao: 'Espetáculos teatrais', nacional: '120101', inicio: '2027-01-01' },
  { codigo: '105', descricao: 'Encerrado ontem', fim: '2026-11-20' },
  { codigo: '106', descricao: 'Encerra hoje', fim: '2026-11-21' },
  { codigo: '107', descricao: 'Antes', aliquota: '3.00', inicio: '2025-01-01', fim: '2026-06-30' },
  { codigo: '107', descricao: 'Agora', aliquota: '4.00', inicio: '2026-07-01', fim: '2026-12-31' },
  { codigo: '107', descricao: 'Depois', aliquota: '4.50', inicio: '2027-01-01' },
  { codigo: '01.07/99-A', descricao: 'Código longo da prefeitura' },
]);
for (const tenant of ['vizinho', 'lista-que-cresce', 'lista-com-etiqueta']) {
  await listed(tenant, [{ codigo: '900', descricao: 'Do vizinho' }]);
}

describe('each row of the specification', () => {
  const rows: Readonly<Record<string, () => Promise<void>>> = {
    codigos_tributacao_municipal: async () => {
      const nome = 'codigos_tributacao_municipal';
      const found = await itens(nome, {}, 'exemplo');
      assert.deepEqual(found.map(({ codigo, descricao, vigente }) => [codigo, descricao, vigente]).toSorted(), [
        ['01.07/99-A', 'Código longo da prefeitura', true],
        ['101', 'Análise de sistemas', true],
        ['102', 'PROGRAMAÇÃO', true],
        ['103', 'Reforma de edifícios', true],
        ['104', 'Espetáculos teatrais', false],
        ['106', 'Encerra hoje', true],
        ['107', 'Agora', true],
      ]);
      const [analise] = found.filter(({ codigo }) => codigo === '101');
      assert.deepEqual(analise, {
        codigo: '101',
        descricao: 'Análise de sistemas',
        cabe_em_cTribMun: true,
        codigo_tributacao_nacional: '010101',
        descricao_nacional: 'Análise e desenvolvimento de sistemas.',
        cnae_codigo: '6201501',
        aliquota: '2.90',
        inicio_vigencia: '2026-01-01',
        fim_vigencia: null,
        vigente: true,
        incidencia: {
          regra: 'EP',
          descricao: 'Município do estabelecimento do prestador ou, na falta dele, do seu domicílio.',
          dispositivo_lc116: 'Art. 3º, caput',
          publicada: true,
        },
        grupo_obrigatorio: null,
      });
      const by = new Map(found.map((item) => [item.codigo, item]));
      assert.equal(by.get('102').aliquota, null);
      assert.equal(by.get('107').aliquota, '4.00');
      assert.equal(by.get('103').grupo_obrigatorio, 'obra');
      assert.equal(by.get('103').incidencia.regra, 'LP');
      assert.equal(by.get('104').grupo_obrigatorio, 'atvEvento');
      assert.equal(by.get('01.07/99-A').cabe_em_cTribMun, false);
      for (const descricao of ['analise', 'ANÁLISE', 'sistemas análise', ' Sistemas ']) {
        assert.deepEqual(
          (await itens(nome, { descricao }, 'exemplo')).map(({ codigo }) => codigo),
          ['101'],
          descricao,
        );
      }
      assert.deepEqual(
        (await itens(nome, { descricao: 'programacao' }, 'exemplo')).map(({ codigo }) => codigo),
        ['102'],
      );
      // Everyday words of the national service to which the municipality assigns its own.
      assert.deepEqual(
        (await itens(nome, { descricao: 'pedreiro' }, 'exemplo')).map(({ codigo }) => codigo),
        ['103'],
      );
      for (const cnae_codigo of ['6201501', '6201-5/01']) {
        const those = await itens(nome, { cnae_codigo }, 'exemplo');
        assert.deepEqual(
          those.map(({ codigo }) => codigo),
          ['101', '102'],
        );
      }
      const both = await itens(nome, { cnae_codigo: '6201501', descricao: 'programação' }, 'exemplo');
      assert.deepEqual(
        both.map(({ codigo }) => codigo),
        ['102'],
      );
      assert.deepEqual(await itens(nome, { cnae_codigo: '62015' }, 'exemplo'), []);
      assert.deepEqual(
        (await itens(nome, {}, 'vizinho')).map(({ codigo }) => codigo),
        ['900'],
      );
    },

    codigos_tributacao_nacional: async () => {
      const nome = 'codigos_tributacao_nacional';
      const found = await all(nome);
      assert.equal(found.length, TOTAIS[nome]);
      assert.ok(found.every(({ codigo }) => /^\d{6}$/.test(codigo)));
      assert.deepEqual(
        found.map(({ codigo }) => codigo),
        found.map(({ codigo }) => codigo).toSorted(),
      );
      // Headings have no line of their own: 010000 and 010100 of 010101.
      assert.ok(!found.some(({ codigo }) => codigo.endsWith('00')));
      // The incidence table has 277 EP, 58 LP, 1 ET and 1 NI; 200102 is in none of its editions (D-80).
      const regras = Map.groupBy(found, ({ incidencia }) => `${incidencia.regra} ${incidencia.publicada}`);
      assert.deepEqual(Object.fromEntries([...regras].map(([regra, those]) => [regra, those.length])), {
        'EP true': 277,
        'EP false': 1,
        'LP true': 58,
        'ET true': 1,
        'NI true': 1,
      });
      const by = new Map(found.map((item) => [item.codigo, item]));
      assert.equal(by.get('170501').incidencia.regra, 'ET');
      assert.equal(by.get('990101').incidencia.regra, 'NI');
      const grupos = Map.groupBy(found, ({ grupo_obrigatorio }) => grupo_obrigatorio);
      assert.equal(grupos.get('obra')!.length, 13);
      assert.deepEqual([...new Set(grupos.get('atvEvento')!.map(({ item }) => item))], ['12']);
      assert.equal(grupos.get('atvEvento')!.length, 19);
      assert.deepEqual(by.get('010701').subitem, '01.07');
      assert.ok(by.get('010701').correlacoes.every(({ ibscbs }: Answer['body']) => ibscbs.length > 0));
      // Anexo VIII, first line: 01.01, 1.1502.10.00, 100301, 000001, onerous, acquirer in the country.
      assert.deepEqual(by.get('010101').correlacoes[0], {
        nbs: '115021000',
        descricao:
          'Serviços de projeto, desenvolvimento e instalação de aplicativos e programas não personalizados (não customizados)',
        ibscbs: [{ cIndOp: '100301', cClassTrib: '000001', operacao_onerosa: true, adquirente_no_exterior: false }],
      });
      for (const codigo of ['010701', '01.07.01', '01 07 01'])
        assert.deepEqual(await codigos(nome, { codigo }), ['010701']);
      assert.deepEqual(await codigos(nome, { codigo: '0103' }), ['010301', '010302']);
      // Codes as LC 116 writes them: 10.10 has a code of its own, and 1.01 is no prefix of it.
      assert.deepEqual(await codigos(nome, { codigo: '1.01' }), ['010101']);
      assert.deepEqual(await codigos(nome, { codigo: '1.01.01' }), ['010101']);
      assert.deepEqual(await codigos(nome, { codigo: '10.10' }), ['101001']);
      for (const codigo of ['010100', 'abc', '...', '999999']) assert.deepEqual(await codigos(nome, { codigo }), []);
      const deInformatica = await codigos(nome, { item: '1' });
      assert.deepEqual(await codigos(nome, { item: '01' }), deInformatica);
      assert.ok(deInformatica.length > 8 && deInformatica.every((codigo) => codigo.startsWith('01')));
      assert.deepEqual(await codigos(nome, { item: '14.14' }), ['141401', '141402', '141403', '141404']);
      assert.deepEqual(await codigos(nome, { item: '1', descricao: 'PROGRAMACAO' }), ['010201']);
      // Words that the list does not use; another filter reduces the results.
      const software = await codigos(nome, { descricao: 'software' });
      assert.ok(software.includes('010101') && software.includes('010501'), software.join(' '));
      assert.deepEqual(await codigos(nome, { descricao: 'software', item: '1.05' }), ['010501']);
      assert.deepEqual(await codigos(nome, { descricao: 'aluguel de carro' }), ['990101']);
    },

    nbs: async () => {
      const found = await all('nbs');
      assert.equal(found.length, TOTAIS.nbs);
      assert.ok(found.every(({ codigo }) => /^\d{9}$/.test(codigo)));
      for (const { codigo, codigo_formatado } of found) {
        assert.match(codigo_formatado, /^\d\d\.\d\d\.\d\d\.\d\d-\d$/);
        assert.equal(codigo_formatado.replace(/\D/g, ''), codigo);
      }
      for (const codigo of ['115021000', '11.50.21.00-0', '1.1502.10.00']) {
        const [one, ...others] = await itens('nbs', { codigo });
        assert.deepEqual([one.codigo, one.codigo_formatado, others.length], ['115021000', '11.50.21.00-0', 0]);
        const [{ subitem, cTribNac, ibscbs }] = one.correlacoes;
        assert.deepEqual(
          [subitem, cTribNac, ibscbs[0].cIndOp, ibscbs[0].cClassTrib],
          ['01.01', ['010101'], '100301', '000001'],
        );
      }
      let sum = 0;
      for (const secao of ['I', 'ii', 'III', 'iv', 'V']) sum += await total('nbs', { secao });
      assert.equal(sum, TOTAIS.nbs);
      assert.equal(await total('nbs', { secao: 'VI' }), 0);
      assert.ok((await codigos('nbs', { descricao: 'edificacoes RESIDENCIAIS' })).includes('101011100'));
      // This code is in the ministry's list but not in Anexo B, so no DPS may carry it.
      assert.deepEqual(await codigos('nbs', { codigo: '109044000' }), []);
    },

    municipios: async () => {
      const found = await all('municipios');
      assert.equal(found.length, TOTAIS.municipios);
      assert.equal(new Set(found.map(({ codigo_ibge }) => codigo_ibge)).size, TOTAIS.municipios);
      assert.ok(found.every(({ codigo_ibge }) => /^\d{7}$/.test(codigo_ibge)));
      assert.deepEqual(await itens('municipios', { codigo_ibge: '3550308' }), [
        { codigo_ibge: '3550308', nome: 'São Paulo', uf: 'SP', fuso_horario: 'America/Sao_Paulo' },
      ]);
      // The filter is exact: a prefix finds nothing.
      assert.equal(await total('municipios', { codigo_ibge: '355030' }), 0);
      // IBGE: 645 in São Paulo, 853 in Minas Gerais, one in the Distrito Federal.
      assert.equal(await total('municipios', { uf: 'sp' }), 645);
      assert.equal(await total('municipios', { uf: 'MG' }), 853);
      assert.equal(await total('municipios', { uf: 'Df' }), 1);
      for (const nome of ['florianopolis', 'FLORIANÓPOLIS', 'Florianópolis', 'orianop']) {
        assert.deepEqual(await codigos('municipios', { nome }, 'codigo_ibge'), ['4205407'], nome);
      }
      assert.deepEqual(await codigos('municipios', { nome: 'alta floresta doeste' }, 'codigo_ibge'), []);
      assert.deepEqual(await codigos('municipios', { nome: "alta floresta d'oeste" }, 'codigo_ibge'), ['1100015']);
      assert.deepEqual(await codigos('municipios', { nome: 'sao paulo', uf: 'sp' }, 'codigo_ibge'), ['3550308']);
    },

    paises: async () => {
      const found = await all('paises');
      assert.equal(found.length, TOTAIS.paises);
      assert.ok(found.every(({ codigo }) => /^[A-Z]{2}$/.test(codigo)));
      assert.deepEqual(
        found.filter(({ aceito_no_exterior }) => !aceito_no_exterior).map(({ codigo }) => codigo),
        ['BR', 'ZZ'],
      );
      assert.deepEqual(await itens('paises', { codigo: 'PT' }), [
        { codigo: 'PT', nome: 'Portugal', aceito_no_exterior: true, codigo_bacen: '6076' },
      ]);
      assert.deepEqual(await codigos('paises', { codigo: 'P' }), []);
      assert.deepEqual(await codigos('paises', { nome: 'africa do sul' }), ['ZA']);
    },

    moedas: async () => {
      const found = await all('moedas');
      assert.equal(found.length, TOTAIS.moedas);
      assert.ok(found.every(({ codigo }) => /^\d{3}$/.test(codigo)));
      // The two examples of the specification.
      assert.deepEqual(await codigos('moedas', { sigla: 'USD' }), ['220']);
      assert.deepEqual(await codigos('moedas', { sigla: 'eur' }), ['978']);
      const [dolar, ...others] = await itens('moedas', { codigo: '220' });
      assert.deepEqual(
        [dolar.sigla, dolar.nome, dolar.ativa, others.length],
        ['USD', 'Dólar dos Estados Unidos', true, 0],
      );
      assert.deepEqual(await codigos('moedas', { codigo: '22' }), []);
    },

    motivos_evento: async () => {
      const { body, status } = await catalogo('motivos_evento');
      assert.equal(status, 200);
      // The order is that of the specification, "Events".
      const slugs = SPECIFIED.map(([, slug]) => slug!);
      assert.deepEqual(
        body.itens.map(({ tipo_evento }: Answer['body']) => tipo_evento),
        slugs,
      );
      assert.ok(!('paginacao' in body));
      const options = body.itens.flatMap(({ enums }: Answer['body']) => Object.values(enums).flat());
      assert.equal(options.length, OPCOES_DE_EVENTO);
      for (const option of options) {
        assert.deepEqual(Object.keys(option), ['codigo', 'valor', 'descricao']);
        assert.ok(Number.isInteger(option.valor) && option.descricao !== '');
      }
      for (const tipo_evento of slugs) {
        const one = await catalogo('motivos_evento', { tipo_evento });
        assert.deepEqual(one.body.itens, [body.itens[slugs.indexOf(tipo_evento)]]);
      }
      const [cancelamento] = await itens('motivos_evento', { tipo_evento: '101101' });
      assert.deepEqual(cancelamento.campos_obrigatorios, [
        'tipo_evento',
        'codigo_motivo_cancelamento',
        'descricao_motivo_cancelamento',
      ]);
      assert.deepEqual(cancelamento.enums.codigo_motivo_cancelamento[0], {
        codigo: '1',
        valor: 1,
        descricao: 'Erro na Emissão',
      });
      assert.deepEqual(cancelamento.endpoint, {
        metodo: 'POST',
        url_por_chave: `${address}/integracao/api/v1/nfse/{chave_acesso}/eventos`,
        url_por_protocolo: `${address}/integracao/api/v1/nfse/protocolo/{numero_protocolo}/eventos`,
        content_type: 'application/json',
        cabecalho_da_assinatura: 'X-Evento-Assinatura',
      });
      // Specification, Events: the sender of these is no party of the note, and this channel refuses them (E9016).
      assert.deepEqual(
        body.itens
          .filter(({ endpoint }: Answer['body']) => endpoint === null)
          .map((item: Answer['body']) => item.tipo_evento),
        [
          'cancelamento_deferido_por_analise_fiscal',
          'cancelamento_indeferido_por_analise_fiscal',
          'confirmacao_tacita',
          'anulacao_rejeicao',
          'cancelamento_por_oficio',
          'bloqueio_por_oficio',
          'desbloqueio_por_oficio',
        ],
      );
      const page = await fetch(cancelamento.doc_url);
      assert.equal(page.status, 200);
      assert.match(await page.text(), new RegExp(`id="${new URL(cancelamento.doc_url).hash.slice(1)}"`));
    },
  };

  test('every row has its test, and every test its row', () => {
    const paths = ROUTES.map(({ path }) => path).filter((path) => path.startsWith('/api/v1/catalogo/'));
    assert.deepEqual(
      paths,
      Object.keys(rows).map((nome) => `/api/v1/catalogo/${nome}`),
    );
  });

  for (const [nome, look] of Object.entries(rows)) test(nome, look);

  test('the items have the fields that are told of them, in their order', async () => {
    const shapes = Object.fromEntries(CATALOGOS.map(({ nome, item }) => [nome, item]));
    for (const nome of Object.keys(rows)) {
      const shape = (shapes[nome] ?? 'MotivoEvento') as keyof typeof CATALOGO_SHAPES;
      const [item] = await itens(nome, {}, 'exemplo');
      assert.deepEqual(Object.keys(item), Object.keys(CATALOGO_SHAPES[shape]), nome);
    }
  });
});

describe('the municipal list', () => {
  test('a municipality without one says what holds in its place, and at which rate', async () => {
    const sandbox = await catalogo('codigos_tributacao_municipal');
    assert.deepEqual(sandbox.body.itens, []);
    assert.deepEqual(sandbox.body.paginacao, { pagina_atual: 1, por_pagina: 25, total: 0, total_paginas: 0 });
    assert.match(sandbox.body.observacao, /não tem lista própria.*\/catalogo\/codigos_tributacao_nacional/);
    assert.doesNotMatch(sandbox.body.observacao, /%/);
    const other = await catalogo('codigos_tributacao_municipal', {}, 'sem-lista');
    assert.match(other.body.observacao, /3\.50%/);
    const withList = await catalogo('codigos_tributacao_municipal', {}, 'exemplo');
    assert.equal(withList.body.observacao, null);
  });

  test('pages, and the total behind the last one', async () => {
    const seen: string[] = [];
    for (const page of ['1', '2', '3']) {
      const { body } = await catalogo('codigos_tributacao_municipal', { page, per_page: '3' }, 'exemplo');
      assert.deepEqual(body.paginacao, { pagina_atual: Number(page), por_pagina: 3, total: 7, total_paginas: 3 });
      seen.push(...body.itens.map(({ codigo }: Answer['body']) => codigo));
    }
    assert.equal(new Set(seen).size, 7);
    const beyond = await catalogo('codigos_tributacao_municipal', { page: '9', per_page: '3' }, 'exemplo');
    assert.deepEqual([beyond.body.itens, beyond.body.paginacao.total], [[], 7]);
  });

  test('it is read by the key of its tenant', async () => {
    const statements: Statements = new Map();
    const watched = createStore(recorded(pool, statements));
    assert.equal((await watched.servicos.listInForce('exemplo', '2026-11-21'))!.length, 7);
    await noneScans(pool, statements, ['exemplo', 'vizinho']);
  });

  test('a change is seen within seconds, and a kept list is not read again', async (t) => {
    const tenant = 'lista-que-cresce';
    const clock = monotonicClock(t);
    const statements: Statements = new Map();
    const watched = createStore(recorded(pool, statements));
    const first = await watched.servicos.listInForce(tenant, '2026-11-21');
    statements.clear();
    assert.equal(await watched.servicos.listInForce(tenant, '2026-11-21'), first);
    assert.equal(statements.size, 0);
    await listed(tenant, [{ codigo: '901', descricao: 'Acrescentado' }]);
    clock.passMs(FRESH_MS);
    assert.deepEqual(
      (await watched.servicos.listInForce(tenant, '2026-11-21'))!.map(({ codigo }) => codigo),
      ['900', '901'],
    );
  });
});

describe('pages', () => {
  test('25 a page where nothing is said', async () => {
    const { body } = await catalogo('municipios');
    assert.deepEqual(Object.keys(body), ['status', 'itens', 'paginacao']);
    assert.equal(body.status, 'OK');
    assert.equal(body.itens.length, 25);
    assert.deepEqual(body.paginacao, { pagina_atual: 1, por_pagina: 25, total: 5571, total_paginas: 223 });
  });

  test('1 to 100 a page', async () => {
    for (const [per_page, total_paginas] of [
      ['1', 5571],
      ['7', 796],
      ['100', 56],
    ] as const) {
      const { body } = await catalogo('municipios', { per_page });
      assert.equal(body.itens.length, Number(per_page));
      assert.equal(body.paginacao.total_paginas, total_paginas);
    }
    const last = await catalogo('municipios', { per_page: '100', page: '56' });
    assert.equal(last.body.itens.length, 71);
  });

  test('a page behind the last one is empty', async () => {
    const { status, body } = await catalogo('moedas', { page: '999999999' });
    assert.deepEqual([status, body.itens], [200, []]);
    assert.deepEqual(body.paginacao, { pagina_atual: 999999999, por_pagina: 25, total: 163, total_paginas: 7 });
  });

  test('an empty filter is none, one that nothing passes is an empty list', async () => {
    assert.equal(await total('municipios', { nome: '', uf: ' ' }), TOTAIS.municipios);
    for (const nome of ['xyzxyz', '%', '***', '\u0000', '\ud800', "'; --", '日本']) {
      assert.equal(await total('municipios', { nome }), 0, nome);
      const own = await catalogo('codigos_tributacao_municipal', { descricao: nome }, 'exemplo');
      assert.deepEqual([own.status, own.body.paginacao.total], [200, 0], nome);
    }
    const undecodable = await request(
      address,
      '/exemplo/api/v1/catalogo/codigos_tributacao_municipal?descricao=%ff%00',
    );
    assert.equal(undecodable.status, 200);
  });
});

describe('a filter that no item can pass', () => {
  // Specification, "Catalogs": the filters match exactly or by words, and the text does not mention refused values.
  for (const [nome, query, says] of [
    ['municipios', { codigo_ibge: 'abc' }, /codigo_ibge="abc".*7 dígitos/],
    ['municipios', { codigo_ibge: '355030' }, /codigo_ibge="355030".*7 dígitos/],
    ['municipios', { uf: 'xx', codigo_ibge: '1' }, /codigo_ibge="1".*uf="xx".*estado/],
    ['paises', { codigo: 'BRA' }, /codigo="BRA".*2 letras/],
    ['moedas', { codigo: 'USD' }, /codigo="USD".*3 dígitos.*sigla/],
    ['moedas', { sigla: '220' }, /sigla="220".*3 letras/],
    ['nbs', { codigo: 'abc' }, /codigo="abc".*9 dígitos/],
    ['nbs', { secao: '1' }, /secao="1".*romanos/],
    ['codigos_tributacao_nacional', { codigo: 'abc' }, /codigo="abc".*6 dígitos/],
    ['codigos_tributacao_nacional', { item: 'I' }, /item="I".*LC 116/],
    ['codigos_tributacao_municipal', { cnae_codigo: '62015' }, /cnae_codigo="62015".*7 dígitos/],
  ] as const) {
    test(`${nome}?${new URLSearchParams(query)}: 200, nothing, and the form that it wants`, async () => {
      const { status, body } = await catalogo(nome, query, 'exemplo');
      assert.deepEqual([status, body.itens, body.paginacao.total], [200, [], 0]);
      assert.match(body.observacao, says);
    });
  }

  test('what was sent is told in part, and a filter that may find something is not spoken of', async () => {
    const { body } = await catalogo('paises', { codigo: 'x'.repeat(1_000) });
    assert.ok(body.observacao.length < 400, body.observacao);
    for (const [nome, query] of [
      ['municipios', { codigo_ibge: '9999999' }],
      ['municipios', { uf: 'sp', nome: 'xyzxyz' }],
      ['paises', { codigo: 'xx' }],
      ['nbs', { codigo: '1.1502' }],
      ['codigos_tributacao_nacional', { codigo: '1.01', item: '1' }],
    ] as const) {
      assert.ok(!('observacao' in (await catalogo(nome, query)).body), nome);
    }
    assert.equal(
      (await catalogo('codigos_tributacao_municipal', { cnae_codigo: '9999-9/99' }, 'exemplo')).body.observacao,
      null,
    );
  });
});

describe('refusals', () => {
  test('page and per_page outside of their bounds: 400 E0002 with the parameter', async () => {
    const numbers = ['0', '-1', '101', '1.5', '1e1', '+1', '01', '', ' 1', 'abc', '99999999999999999999'];
    for (const nome of CATALOGOS.map((one) => one.nome)) {
      for (const per_page of numbers) {
        const { status, body, headers } = await catalogo(nome, { per_page });
        assert.deepEqual([status, body.codigo_erro, body.campo], [400, 'E0002', 'per_page'], per_page);
        assert.equal(body.erros[0].esperado, 'número inteiro de 1 a 100');
        assert.equal(headers.get('cache-control'), 'no-store');
      }
    }
    for (const page of numbers.filter((one) => one !== '101')) {
      const { status, body } = await catalogo('moedas', { page });
      assert.deepEqual([status, body.codigo_erro, body.campo], [400, 'E0002', 'page'], page);
    }
  });

  test('a parameter that the catalog does not have, and one that comes twice: 400 E003', async () => {
    const strange = await catalogo('paises', { uf: 'SP' });
    assert.deepEqual([strange.status, strange.body.codigo_erro, strange.body.campo], [400, 'E003', 'uf']);
    assert.match(strange.body.mensagem, /codigo, nome, page, per_page/);
    const twice = await request(address, '/integracao/api/v1/catalogo/municipios?uf=SP&uf=RJ');
    assert.deepEqual([twice.status, twice.body.codigo_erro, twice.body.campo], [400, 'E003', 'uf']);
    const unpaged = await catalogo('motivos_evento', { page: '1' });
    assert.deepEqual([unpaged.status, unpaged.body.codigo_erro, unpaged.body.campo], [400, 'E003', 'page']);
  });

  test('all that is wrong is told at once', async () => {
    const { body } = await catalogo('moedas', { page: '0', per_page: '0', pagina: '2' });
    assert.deepEqual(
      body.erros.map(({ codigo, campo }: Answer['body']) => `${codigo} ${campo}`),
      ['E003 pagina', 'E0002 page', 'E0002 per_page'],
    );
  });

  test('an unknown tipo_evento: 404 with valores_validos', async () => {
    const { status, body } = await catalogo('motivos_evento', { tipo_evento: 'cancelar' });
    assert.deepEqual([status, body.codigo_erro, body.campo], [404, 'E601', 'tipo_evento']);
    assert.equal(body.valores_validos.length, SPECIFIED.length);
    assert.ok(body.valores_validos.includes('cancelamento'));
  });

  test('an unknown municipality and an unknown catalog: 404', async () => {
    const strangers = await catalogo('moedas', {}, 'nenhum-lugar');
    assert.deepEqual([strangers.status, strangers.body.codigo_erro, strangers.body.campo], [404, 'E601', 'municipio']);
    assert.equal((await catalogo('cidades')).status, 404);
  });
});

describe('an hour of cache', () => {
  const path = '/exemplo/api/v1/catalogo/municipios?uf=AC';

  test('public, with a tag that is that of the page', async () => {
    const first = await request(address, path);
    assert.equal(first.headers.get('cache-control'), 'public, max-age=3600');
    assert.equal(first.headers.get('content-type'), 'application/json; charset=utf-8');
    assert.equal(first.headers.get('x-nfse-ambiente'), 'producao');
    const tag = first.headers.get('etag')!;
    assert.match(tag, /^"[\w-]+"$/);
    assert.equal((await request(address, path)).headers.get('etag'), tag);
    assert.notEqual((await request(address, `${path}&page=2`)).headers.get('etag'), tag);
  });

  test('304 to who has it, with nothing but its head', async () => {
    for (const where of [
      path,
      '/exemplo/api/v1/catalogo/codigos_tributacao_municipal',
      '/exemplo/api/v1/catalogo/motivos_evento',
    ]) {
      const { headers } = await request(address, where);
      const tag = headers.get('etag')!;
      for (const held of [tag, `W/${tag}`, `"other", ${tag}`, '*']) {
        const again = await request(address, where, { headers: { 'If-None-Match': held } });
        assert.deepEqual([again.status, again.body], [304, ''], held);
        assert.equal(again.headers.get('etag'), tag);
        assert.equal(again.headers.get('cache-control'), headers.get('cache-control'));
      }
      const changed = await request(address, where, { headers: { 'If-None-Match': '"other"' } });
      assert.equal(changed.status, 200);
    }
  });

  test('the tag of the municipal list changes with it', async (t) => {
    const clock = monotonicClock(t);
    const tenant = 'lista-com-etiqueta';
    const where = `/${tenant}/api/v1/catalogo/codigos_tributacao_municipal?descricao=novo`;
    const before = await request(address, where);
    await listed(tenant, [{ codigo: '990', descricao: 'Novo' }]);
    clock.passMs(FRESH_MS);
    const after = await request(address, where, { headers: { 'If-None-Match': before.headers.get('etag')! } });
    assert.deepEqual([after.status, after.body.paginacao.total], [200, 1]);
  });

  test('HEAD says what GET would', async () => {
    const got = await request(address, path);
    const head = await fetch(`${address}${path}`, { method: 'HEAD' });
    assert.equal(await head.text(), '');
    assert.equal(head.status, 200);
    for (const name of ['etag', 'cache-control', 'content-length'])
      assert.equal(head.headers.get(name), got.headers.get(name));
  });

  test('what shows the address by which it was asked is nobody else’s', async () => {
    const { headers } = await catalogo('motivos_evento');
    assert.equal(headers.get('cache-control'), 'private, max-age=3600');
    const elsewhere = await request(address, '/exemplo/api/v1/catalogo/motivos_evento?tipo_evento=cancelamento');
    assert.match(elsewhere.body.itens[0].endpoint.url_por_chave, /\/exemplo\/api\/v1\//);
  });
});

describe('motivos_evento and the reading of events agree', () => {
  const POST = (body: object): RequestInit => ({
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  });

  test('each example is a request without a fault of form, each required field is required, each option is taken', async () => {
    const { body: note } = await emit(address, exampleXml({ serie: '7', nDPS: '1' }));
    const send = (payload: object): Promise<Answer> =>
      request(address, `/integracao/api/v1/nfse/${note.chave_acesso}/eventos`, POST(payload));
    const FORM = /^(E002|E003|E0001|E0002|E0003|E0010|E203)$/;
    const types = await itens('motivos_evento');
    // The events are registered from the last type to the first: after the first the note takes no more.
    for (const tipo of types.toReversed()) {
      const { aceito_neste_canal, campos_obrigatorios, exemplo_payload, enums } = tipo;
      assert.equal(exemplo_payload.tipo_evento, tipo.tipo_evento);
      for (const [campo, options] of Object.entries<Answer['body'][]>(enums)) {
        assert.ok(options.some(({ codigo }) => codigo === exemplo_payload[campo]));
      }
      for (const campo of campos_obrigatorios) assert.ok(campo in exemplo_payload, `${tipo.tipo_evento} ${campo}`);
      if (!aceito_neste_canal) {
        const refused = await send(exemplo_payload);
        assert.deepEqual([refused.status, refused.body.codigo_erro], [401, 'E9016'], tipo.tipo_evento);
        assert.match(tipo.observacao, /E9016/);
        continue;
      }
      for (const campo of campos_obrigatorios) {
        const { [campo]: _, ...without } = exemplo_payload;
        const answer = await send(without);
        assert.ok([400, 422].includes(answer.status), `${tipo.tipo_evento} without ${campo}: ${answer.status}`);
        assert.equal(answer.body.erros[0].campo, campo);
      }
      for (const [campo, options] of Object.entries<Answer['body'][]>(enums)) {
        const outside = await send({ ...exemplo_payload, [campo]: '77' });
        assert.deepEqual([outside.status, outside.body.codigo_erro], [400, 'E0002'], tipo.tipo_evento);
        for (const { codigo } of options)
          assert.match(JSON.stringify(outside.body.erros[0]), new RegExp(`\\b${codigo}\\b`));
      }
      const answer = await send(exemplo_payload);
      assert.ok(answer.status === 201 || !FORM.test(answer.body.codigo_erro), JSON.stringify(answer.body));
    }
  });
});
