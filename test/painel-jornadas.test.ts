/**
 * A day in a town hall, in a browser, with and without scripts. axe checks every page of the console, on a phone and on a desktop, light
 * and dark. NFSE_TEST_IMAGENS names a folder for pictures of all of them.
 */
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { before, describe, test } from 'node:test';
import { SALAS } from '../src/base/world/lugares.ts';
import { MINUTE_MS } from '../src/fiscal/moment.ts';
import { exampleXml } from '../src/fiscal/rules/example.ts';
import { cadastrarAviso } from '../src/subjects/avisos/do-municipio.ts';
import { assertAccessible, assertFits } from './support/axe.ts';
import { openBrowser, type Page } from './support/browser.ts';
import { cnpjCheckDigits } from './support/cnpj.ts';
import { balcao, bancada, CANCELAMENTO, type NotaEmitida, putEvento } from './support/eventos.ts';
import { ANALISE, PEDIDO_DE_ANALISE, plays, REJEICAO } from './support/historias.ts';
import { freshFolder } from './support/openssl.ts';
import { enterInBrowser, makeUsuario, startTestPainel, type TestPainel, type Usuario } from './support/painel.ts';
import { startTestService, type TestService } from './support/service.ts';

const browser = await openBrowser();
const skip = browser === undefined ? 'there is no Chromium' : false;
const PICTURES = process.env['NFSE_TEST_IMAGENS'];
if (PICTURES !== undefined) mkdirSync(PICTURES, { recursive: true });

const clock = { now: Date.now() };

function enterBrowser(page: Page, painel: TestPainel, usuario: Usuario): Promise<void> {
  clock.now += MINUTE_MS;
  return enterInBrowser(page, painel, usuario);
}

/** Waits until the page shows the text. */
const says = (page: Page, text: string): Promise<void> =>
  page.until(`document.body.innerText.includes(${JSON.stringify(text)})`);

for (const scripts of [true, false]) {
  test(`a day at the desk, ${scripts ? 'with scripts' : 'without'}`, { skip }, async (t) => {
    if (browser === undefined) return;
    const service = await startTestService({ worker: false, clock });
    const painel = await startTestPainel(service);
    const integracao = balcao(service.address);
    const work = bancada(service.world);
    const at = (where: string): string => `${painel.origin}/m/integracao${where}`;
    const nota = await integracao.issue({
      'toma/CPF': null,
      'toma/CNPJ': '11444777000161',
      'toma/xNome': 'Padaria São João',
    });
    await work.notas();
    while (await service.store.nomes.learn(0, SALAS.nomes));
    const page = await browser.newPage(true);
    await page.resize(1_280, 900);
    await page.scripts(scripts);
    await enterBrowser(page, painel, await makeUsuario(painel, 'olga', { integracao: 'operacao' }));

    await t.test('finds a refused event, sees why, has it sent again, and sees it done', async () => {
      const { id_evento } = await integracao.registered(nota, CANCELAMENTO);
      await putEvento(service.pool, 'integracao', String(id_evento), 'erro', null);
      await page.open(at(''));
      await says(page, 'Um evento pede atenção');
      await page.click('a[href$="/m/integracao/eventos"]');
      await page.click(`a[href$="/evento/${id_evento}"]`);
      await says(page, 'O envio falhou');
      await page.click('details:has(form[action$="/reprocessar"]) summary');
      await page.click('form[action$="/reprocessar"] button');
      await says(page, 'O evento foi reprocessado');
      await work.eventos();
      await page.open(at(`/evento/${id_evento}`));
      await says(page, 'Registrado no ADN');
    });

    await t.test('finds the note of a complaint by part of a name, and reads why it is as it is', async () => {
      await page.open(at('/notas'));
      await page.fill('#campo-q', 'padaria joão');
      await page.click('.busca button');
      await page.click(`a[href*="/notas/${nota.chave_acesso}"]`);
      await says(page, 'Padaria São João');
      await says(page, 'cancelada');
    });

    await t.test('blocks a provider with a reason, who is then told apart in the list', async () => {
      await page.open(at('/cadastros/prestadores'));
      await page.fill('#campo-procurar', '11222333000181');
      await page.click('.busca button');
      await page.click('a[href$="/cadastros/prestador/11222333000181"]');
      await page.click('details:has(form[action$="/bloquear"]) summary');
      await page.fill('#campo-motivo-bloquear', 'processo 12');
      await page.click('form[action$="/bloquear"] button');
      await says(page, 'O prestador foi bloqueado.');
      await says(page, 'processo 12');
      const [prestador] = await service.store.prestadores.search('integracao', {}, undefined, 9);
      assert.equal(prestador?.autorizado, false);
    });

    await t.test('imports five thousand providers, of which twelve are bad, after a look at them', async () => {
      const bad = new Set([7, 99, 500, 501, 777, 1_234, 2_000, 2_001, 3_333, 4_000, 4_444, 4_999]);
      const lines = Array.from({ length: 5_000 }, (_, place) => {
        const documento = cnpjCheckDigits(String(place + 1).padStart(8, '0'));
        return bad.has(place) ? `${documento.slice(0, 13)}X,Empresa ${place},` : `${documento},Empresa ${place},`;
      });
      const file = path.join(freshFolder(), 'cinco-mil.csv');
      writeFileSync(file, `documento,razao_social,inscricao_municipal\n${lines.join('\n')}\n`);
      await page.open(at('/cadastros/importar/prestadores'));
      await page.choose('#campo-arquivo', file);
      await page.click('main form button');
      await says(page, 'Nada foi gravado ainda.');
      await says(page, '12 linhas de 5.000 não servem');
      await says(page, '4.988');
      await page.fill('#campo-motivo', 'carga inicial');
      await page.click('form[action$="/gravar"] button');
      await says(page, 'cinco-mil.csv foi importado.');
      const { rows } = await service.pool.query(
        `select count(*)::int as n from prestadores where tenant = 'integracao'`,
      );
      assert.equal(rows[0].n, 4_988 + 1);
    });

    await t.test('registers an event by office by its form', async () => {
      const other = await integracao.issue();
      await work.notas();
      await page.open(at(`/eventos/oficio?chave=${other.chave_acesso}&tipo=cancelamento_por_oficio`));
      await says(page, 'Número do processo');
      const fields = {
        cnpj: '99.999.999/0001-91',
        cpf_agente_tributario: '529.982.247-25',
        numero_processo_administrativo: '123/2026',
        descricao_processo_administrativo: 'Lançamento em duplicidade, apurado em processo',
      };
      for (const [name, text] of Object.entries(fields)) await page.fill(`#campo-${name}`, text);
      await page.click('main form[method=post] button');
      await says(page, 'Nada foi registrado ainda.');
      await page.click('main form[method=post] button.grave');
      await says(page, 'O evento foi registrado');
      const eventos = await service.store.eventos.listOf('integracao', other.chave_acesso, {});
      assert.equal(eventos?.length, 1);
    });

    await t.test('checks a document that was refused, and gets it mended', async () => {
      await page.open(at('/conferir'));
      await page.fill('#campo-documento', exampleXml({ 'valores/vServPrest/vServ': '1000,00' }));
      await page.click('main form button');
      await says(page, 'Tudo corrigido');
      assert.ok(
        (await page.evaluate<string>(`document.getElementById('corrigido').value`)).includes('<vServ>1000.00</vServ>'),
      );
      assert.deepEqual(page.complaints, []);
    });
  });
}

/** Addresses of the municipality and of a provider, with deliveries in every state, and tokens. */
async function putAvisos({ store, world, pool, clock: { now } }: TestService) {
  const tenant = 'integracao';
  const url =
    'https://erp.prefeitura.exemplo.gov.br/integracoes/nfse/avisos-de-mudancas?origem=emissor&ambiente=producao';
  const own = await cadastrarAviso(world, tenant, { url, tipos: [], descricao: 'ERP da prefeitura' }, BY);
  assert.ok('segredo' in own);
  const { id } = own.webhook;
  const common = {
    segredo: Buffer.alloc(32),
    criadoEm: now,
    tipos: ['nota.autorizada'],
    descricao: undefined,
  } as const;
  for (const [place, documento] of ['11222333000181', '52998224725'].entries()) {
    const aviso = { ...common, id: `wh_prestador${place}`, documento, url: 'https://loja.exemplo/x' };
    await store.webhooks.insert(tenant, aviso, { documento: 10, raiz: 10 });
    const token = { id: `tok_${documento}`, documento, impressao: Buffer.alloc(32, place), criadoEm: now } as const;
    const escopos = ['consultar', 'webhooks'];
    await store.tokens.insert(tenant, { ...token, expiraEm: now + 9e8, escopos, por: 'ensaio' }, 50);
  }
  const problema = 'o certificado do endereço é assinado por ele mesmo';
  const em = new Date(now).toISOString();
  const registro = [
    { em, ms: 31, problema },
    { em, ms: 15_000, problema: 'sem resposta em 15 s' },
    { em, ms: 120, status: 503 },
  ];
  for (const [place, estado] of (['entregue', 'pendente', 'morta', 'morta'] as const).entries()) {
    await pool.query(
      `insert into entregas (tenant, webhook, ordem, nota, estado, tentativas, due_at, criada_em, entregue_em, registro)
      values ($1, $2, $3, $3, $4, $5, $6, $6, $7, $8)`,
      [
        tenant,
        id,
        place - 1,
        estado,
        place,
        em,
        estado === 'entregue' ? em : null,
        JSON.stringify(registro.slice(0, place)),
      ],
    );
  }
  await pool.query('update webhooks set falhas = 4, problema = $2, problema_em = $3 where tenant = $1', [
    tenant,
    problema,
    em,
  ]);
  return { aviso: id, token: 'tok_11222333000181' };
}

const BY = { quem: 'teste', via: 'comando' } as const;

describe('every page', { skip }, () => {
  if (browser === undefined) return;
  let painel: TestPainel;
  let page: Page;
  let nota: NotaEmitida;
  let address: string;
  const pages: [name: string, where: string][] = [];

  before(async () => {
    const service = await startTestService({ worker: false, clock });
    painel = await startTestPainel(service);
    const integracao = balcao(service.address);
    nota = await integracao.issue();
    address = service.address;
    const work = bancada(service.world);
    const asked = await integracao.issue();
    await integracao.issue({}, plays('adn:rejeita=E1289'));
    await work.notas();
    const analise = await integracao.registered(asked, { tipo_evento: ANALISE[1], ...PEDIDO_DE_ANALISE });
    await integracao.registered(asked, { tipo_evento: 'rejeicao_tomador', ...REJEICAO });
    await work.eventos();
    await service.store.mudancas.append('integracao', clock.now);
    while (await service.store.contagemDaReceita.countDue(clock.now, SALAS.receita, 0));
    const { id_evento } = await integracao.registered(nota, CANCELAMENTO);
    await putEvento(service.pool, 'integracao', String(id_evento), 'erro', null);
    const { aviso, token } = await putAvisos(service);
    page = await browser.newPage(true);
    const chefe = await makeUsuario(painel, 'clara', { integracao: 'administracao' });
    await enterBrowser(page, painel, chefe);
    await page.open(`${painel.origin}/m/integracao/notas?prestador=11222333000181`);
    await page.click('button[value=xlsx]');
    await says(page, 'Pronta 3 notas');
    const exportacao = await page.evaluate<string>('location.pathname');
    const inside: Readonly<Record<string, string>> = {
      hoje: '/hoje',
      'hoje-tabela': '/hoje?tabela=1',
      mes: '/mes?visao=emissao',
      'mes-escrito': '/mes?mes=novembro',
      pendencias: '/pendencias',
      'pendencias-de-um': '/pendencias?tipo=rejeicao&de=minhas',
      pendencia: `/pendencia?tipo=analise_fiscal&chave=${analise.id_evento}`,
      notas: '/notas',
      'notas-filtros': '/notas?estado=autorizada&valor_de=dez',
      nota: `/notas/${nota.chave_acesso}`,
      exportacoes: '/exportacoes',
      eventos: '/eventos',
      evento: `/evento/${id_evento}`,
      oficio: '/eventos/oficio',
      'oficio-nota': `/eventos/oficio?chave=${nota.chave_acesso}`,
      'oficio-campos': `/eventos/oficio?chave=${nota.chave_acesso}&tipo=cancelamento_por_oficio`,
      cadastros: '/cadastros',
      prestadores: '/cadastros/prestadores',
      prestador: '/cadastros/prestador/11222333000181',
      'prestador-alterar': '/cadastros/prestador/11222333000181/alterar',
      'prestador-novo': '/cadastros/prestadores/novo',
      servicos: '/cadastros/lista/servicos',
      'servicos-linha': '/cadastros/linha/servicos',
      importar: '/cadastros/importar/prestadores',
      aliquotas: '/cadastros/aliquotas',
      conferir: '/conferir',
      avisos: '/avisos',
      'aviso-novo': '/avisos/novo',
      aviso: `/avisos/${aviso}`,
      'aviso-mortas': `/avisos/${aviso}?estado=morta`,
      'aviso-alterar': `/avisos/${aviso}/alterar`,
      tokens: '/tokens',
      token: `/tokens/${token}`,
      municipio: '/municipio',
      'municipio-alterar': '/municipio/alterar',
      brasao: '/municipio/brasao',
      certificados: '/municipio/certificados',
      trilha: '/trilha',
      usuarios: '/usuarios',
      'usuario-novo': '/usuarios/novo',
    };
    for (const [name, where] of Object.entries(inside)) pages.push([name, `/m/integracao${where}`]);
    pages.push(['exportacao', exportacao], ['conta', '/conta'], ['conta-reserva', '/conta/reserva']);
  });

  for (const width of [390, 1_280]) {
    for (const isDark of [false, true]) {
      test(`serves everybody, ${width} pixels wide, ${isDark ? 'dark' : 'light'}`, async () => {
        await page.resize(width, 900);
        await page.dark(isDark);
        for (const [name, where] of pages) {
          const called = `${name} ${width} ${isDark ? 'dark' : 'light'}`;
          await page.open(`${painel.origin}${where}`);
          assert.equal(await page.evaluate(`document.querySelectorAll('h1').length`), 1, called);
          await assertFits(page, called);
          await assertAccessible(page, called);
          if (PICTURES !== undefined)
            await page.picture(path.join(PICTURES, `${name}-${width}${isDark ? '-escura' : ''}.png`));
        }
        // One of them is a form with an error.
        assert.deepEqual(
          page.complaints.filter((one) => !one.includes('status of 422')),
          [],
        );
      });
    }
  }

  test('that shows a secret is as good, and a box is ticked by its words', async () => {
    for (const width of [390, 1_280]) {
      await page.resize(width, 900);
      await page.dark(width === 390);
      await page.open(`${painel.origin}/m/integracao/avisos/novo`);
      await page.fill('#campo-url', `https://erp${width}.exemplo.gov.br/avisos`);
      await page.click('label:has(input[value="nota.autorizada"]) span');
      assert.equal(await page.evaluate(`document.querySelectorAll('input[name=tipos]:checked').length`), 1);
      await page.click('main form button');
      await says(page, 'não é mostrado de novo');
      await assertFits(page, `segredo ${width}`);
      await assertAccessible(page, `segredo ${width}`);
      if (PICTURES !== undefined) await page.picture(path.join(PICTURES, `segredo-${width}.png`));
    }
  });

  test('that anybody may open is as good', async () => {
    for (const where of [
      '/docs/conferir',
      `/integracao/nota/${nota.chave_acesso}`,
      '/integracao/',
      '/docs',
      '/docs/erros',
      '/docs/erros/E0370',
    ]) {
      for (const width of [390, 1_280]) {
        await page.resize(width, 900);
        await page.open(`${address}${where}`);
        await assertFits(page, where);
        await assertAccessible(page, where);
        if (PICTURES !== undefined) {
          await page.picture(path.join(PICTURES, `publica${where.replaceAll('/', '_').slice(0, 24)}-${width}.png`));
        }
      }
    }
  });
});
