/**
 * The documentation as a reader gets it: every page and every link, statements of the pages compared with the code, and the search. The
 * calculator is compared with sums made by hand from the specification. `journeys/site.maquina.test.ts` runs its commands and programs, and
 * `site-navegador.test.ts` opens it in a browser.
 */

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { before, describe, test } from 'node:test';
import { METRICS } from '../src/base/measures/metrics.ts';
import { VARIABLES } from '../src/base/terminal/variables.ts';
import { DOOR_FACTS } from '../src/doors/rest/site-facts.ts';
import { moedaOf } from '../src/fiscal/catalogs/catalogs.ts';
import { ERRORS, errorOf } from '../src/fiscal/errors.ts';
import { T } from '../src/fiscal/layout/simple-types.ts';
import { NOMES_DOS_CLIENTES, writeCliente } from '../src/published/clientes/modelos.ts';
import { grafanaBoard } from '../src/published/grafana.ts';
import { ERROS_PATH, REFERENCE_PATH } from '../src/published/paths.ts';
import { EVERYDAY_WORDS } from '../src/published/site/everyday-words.ts';
import { LAW_FACTS } from '../src/published/site/facts.ts';
import { ARQUIVOS, ATAQUES } from '../src/published/site/files.ts';
import { addressOf, PAGES } from '../src/published/site/frame.ts';
import { LISTA_COMMANDS } from '../src/subjects/cadastros/listas.command.ts';
import { COLUNAS_DA_NOTA } from '../src/subjects/notas/colunas-da-nota.ts';
import { nfseHere } from './support/cli.ts';
import { type Answer, request } from './support/http.ts';
import { nfse, ROOT } from './support/process.ts';
import { startTestService } from './support/service.ts';

const FOLDER = path.join(ROOT, 'docs/site');
const sources = readdirSync(FOLDER)
  .filter((name) => name.endsWith('.md'))
  .map((name) => ({ name, text: readFileSync(path.join(FOLDER, name), 'utf8') }));

let address: string;
const answers = new Map<string, Answer>();

before(async () => {
  ({ address } = await startTestService({ worker: false }));
  for (const { slug } of PAGES) answers.set(addressOf(slug), await request(address, addressOf(slug)));
});

function textOf(html: string): string {
  return html
    .replace(/<style>[\s\S]*?<\/style>/g, '')
    .replace(/<wbr>/g, '')
    .replace(/<[^>]*>/g, ' ')
    .replace(/&lt;/g, '<')
    .replace(/&gt;/g, '>')
    .replace(/&quot;/g, '"')
    .replace(/&#39;/g, "'")
    .replace(/&amp;/g, '&');
}

const VOID = new Set(['meta', 'link', 'wbr', 'input', 'br', 'hr']);

/** Start and end tags match. */
function assertBalanced(html: string, where: string): void {
  const open: string[] = [];
  const bare = html.replace(/<style>[\s\S]*?<\/style>/g, '');
  for (const [, slash, name] of bare.matchAll(/<(\/)?([a-z][a-z0-9]*)\b[^>]*>/g)) {
    if (VOID.has(name!)) continue;
    if (slash === undefined) open.push(name!);
    else assert.equal(open.pop(), name, where);
  }
  assert.deepEqual(open, [], where);
}

describe('every page', () => {
  test('is whole, brings nothing in, and says one thing in its title', () => {
    for (const [at, { status, headers, body }] of answers) {
      assert.equal(status, 200, at);
      assert.equal(headers.get('content-type'), 'text/html; charset=utf-8');
      assert.match(headers.get('content-security-policy')!, /^default-src 'none'/);
      assert.equal(body.match(/<h1>/g)?.length, 1, at);
      assert.match(body, /<html lang="pt-BR">/);
      assert.match(body, /<meta name="viewport" content="width=device-width, initial-scale=1">/);
      const rest = body.replace(/<script type="module" src="[^"]*pagina\.js"><\/script>/, '');
      assert.ok(rest.length < body.length, `${at} has not the script`);
      assert.doesNotMatch(rest, /<script|<link(?! rel="alternate")|<img|@import|style="|\son\w+=/, at);
      const prose = textOf(body.replace(/<pre[\s\S]*?<\/pre>/g, ''));
      assert.doesNotMatch(prose, /\{\{|undefined|\[object/, at);
      assert.ok(!body.replaceAll('<wbr>', '').includes('ENDERECO-DO-SERVICO'), at);
      assertBalanced(body, at);
      // A number at the beginning of a line must not start a list.
      assert.doesNotMatch(body, /<ol start="(?!1")/, at);
      const ids = [...body.matchAll(/ id="([^"]*)"/g)].map(([, id]) => id);
      assert.equal(new Set(ids).size, ids.length, `${at} has an id twice`);
    }
  });

  test('is kept by who has it, and not sent again', async () => {
    for (const [at, { headers }] of answers) {
      assert.match(headers.get('cache-control')!, /^private, max-age=\d+$/);
      const again = await fetch(address + at, { headers: { 'If-None-Match': headers.get('etag')! } });
      assert.equal(again.status, 304, at);
    }
  });

  test('says the address by which it was asked for, as text', async () => {
    const port = new URL(address).port;
    const page = await request(`http://localhost:${port}`, '/docs/primeira-nota');
    assert.ok(textOf(page.body).includes(`http://localhost:${port}/integracao/api/v1/ambientes`));
    assert.ok(!page.body.includes('127.0.0.1'));
  });

  test('leads to the next one and to all others', () => {
    const links = (at: string): readonly string[] => linksOf(at).map(({ target }) => target);
    for (const [place, { slug }] of PAGES.entries()) {
      for (const other of PAGES) assert.ok(links(addressOf(slug)).includes(addressOf(other.slug)), slug);
      const next = PAGES[place + 1];
      if (next !== undefined) assert.match(answers.get(addressOf(slug))!.body, /<a rel="next"/);
    }
  });
});

type Link = { readonly target: string; readonly hash: string };

/** The link targets of a page, without external ones. */
function linksOf(at: string): readonly Link[] {
  return [...answers.get(at)!.body.matchAll(/ (?:href|action)="([^"]*)"/g)].flatMap(([, href]) => {
    const url = new URL(href!.replaceAll('&amp;', '&'), address + at);
    if (url.origin !== address) return [];
    return [{ target: url.pathname, hash: decodeURIComponent(url.hash.slice(1)) }];
  });
}

test('every link within the service leads to something, and to the place in it that it names', async () => {
  const found = new Map<string, Answer>(answers);
  for (const at of answers.keys()) {
    for (const { target, hash } of linksOf(at)) {
      if (!found.has(target)) found.set(target, await request(address, target, { headers: { Accept: 'text/html' } }));
      const { status, body } = found.get(target)!;
      assert.equal(status, 200, `${at} leads to ${target}`);
      // A form leads to the place of its answer.
      if (hash !== '' && hash !== 'resultado') {
        assert.ok(body.includes(` id="${hash}"`), `${at} leads to ${target}#${hash}, which is not there`);
      }
    }
  }
  assert.ok(found.has(REFERENCE_PATH) && found.has('/openapi.json') && found.has(ERROS_PATH));
});

test('a page that there is not is a page for a person and an envelope for a program', async () => {
  const page = await request(address, '/docs/nada', { headers: { Accept: 'text/html,*/*' } });
  assert.equal(page.status, 404);
  assert.match(page.body, /<h1>Esta página não existe<\/h1>/);
  assert.equal((await request(address, '/docs/nada')).body.codigo_erro, 'E601');
  for (const name of ['nada.xml', '..%2f..%2fpackage.json', '__proto__', 'constructor']) {
    assert.equal((await request(address, `/docs/arquivos/${name}`)).status, 404, name);
  }
});

/** The folders of the files that are offered as they are. */
const FOLDERS = ['examples', 'docs/site/exemplos', 'docs'];

describe('the files that pages offer', () => {
  test('are those of the project, with the address of the service', async () => {
    const local: Record<string, string> = Object.fromEntries(
      FOLDERS.flatMap((folder) =>
        readdirSync(path.join(ROOT, folder)).map((name) => [name, path.join(ROOT, folder, name)]),
      ),
    );
    const made: Record<string, string> = {
      ...Object.fromEntries(NOMES_DOS_CLIENTES.map((name) => [path.basename(name), writeCliente(name)])),
      'grafana-nfse.json': grafanaBoard(),
    };
    for (const name of ATAQUES) local[`ataques-${name}.json`] = path.join(ROOT, 'test/ataques', `${name}.json`);
    for (const name of Object.keys(ARQUIVOS)) {
      const answer = await fetch(`${address}/docs/arquivos/${name}`);
      assert.equal(answer.status, 200, name);
      const text = (made[name] ?? readFileSync(local[name]!, 'utf8')).replaceAll('http://127.0.0.1:8080', address);
      assert.equal(Buffer.from(await answer.arrayBuffer()).toString(), text, name);
    }
  });

  test('are all named by a page, and so is every file that lies with the examples', () => {
    const all = sources.map(({ text }) => text).join('\n') + LAW_FACTS['leiaute']!() + LAW_FACTS['tabela-ataques']!();
    for (const name of Object.keys(ARQUIVOS)) assert.ok(all.includes(name), name);
    for (const name of readdirSync(path.join(FOLDER, 'exemplos'))) assert.ok(Object.hasOwn(ARQUIVOS, name), name);
  });
});

describe('what the pages say', () => {
  test('is put in by name where the code decides it, and every name is used', () => {
    const used = new Set(
      sources.flatMap(({ text }) => [...text.matchAll(/\{\{([\w.:-]+)\}\}/g)].map(([, name]) => name)),
    );
    for (const name of Object.keys({ ...LAW_FACTS, ...DOOR_FACTS })) assert.ok(used.has(name), `no page uses ${name}`);
  });

  test('has no date and no measure of its own', () => {
    for (const { name, text } of sources) {
      const prose = text.replace(/```[\s\S]*?```/g, '');
      assert.doesNotMatch(prose, /\b\d{1,2}\/\d{1,2}\/20\d\d\b|\b20\d\d-\d\d-\d\d\b|\bem 20\d\d\b/, name);
      // The interval that a client is advised to use is in no constant.
      const measures = prose
        .replace('2, 4, 8 segundos', '')
        .match(/\b\d+ (?:segundos?|minutos?|horas?|dias|[KM]iB|caracteres|%)/g);
      assert.equal(measures, null, `${name}: ${measures}`);
    }
  });

  test('names codes that there are, and each leads to its page', () => {
    for (const { name, text } of sources) {
      const prose = text.replace(/```[\s\S]*?```/g, '');
      for (const [, codigo] of prose.matchAll(/`(E\d{3,4})`/g)) {
        const error = errorOf(codigo!);
        assert.ok(error !== undefined && error.situacao === 'enviado', `${name} names ${codigo}`);
      }
      // A code outside of code marks has no link.
      assert.doesNotMatch(prose.replace(/`[^`]*`/g, ''), /\bE\d{3,4}\b/, name);
    }
  });

  test('names fields, headers and parameters that there are', async () => {
    const described = JSON.stringify((await request(address, '/openapi.json')).body);
    const cliente = [
      'cliente',
      'acompanhar',
      'chamada',
      'assinatura',
      'certificado',
      'erros',
      'parte',
      'aviso',
      'ambiente',
    ].map((name) => readFileSync(path.join(ROOT, `packages/cliente/src/${name}.ts`), 'utf8'));
    const meanings = ERRORS.map(({ significado }) => significado);
    const listas = LISTA_COMMANDS.flatMap(({ notes = [] }) => notes.flat());
    const known = [
      described,
      LAW_FACTS['leiaute']!(),
      ...Object.keys(METRICS),
      ...meanings,
      ...cliente,
      ...listas,
      ...COLUNAS_DA_NOTA.map(({ coluna }) => coluna),
    ].join(' ');
    // Names of the operating system, of XML signatures, of certificates, and of the national interface.
    const foreign = new Set([
      ...['X509Certificate', 'SignedInfo', 'CanonicalizationMethod', 'SignatureMethod', 'DigestMethod', 'KeyInfo'],
      'node_modules',
      ...['Reference', 'Signature', 'pedRegEvento', 'X-Forwarded-*'],
      ...Object.keys(VARIABLES),
      ...['pg_dump', 'pg_restore', 'pg_promote', 'pg_dropcluster', 'target_session_attrs'],
      ...['default_transaction_read_only', 'search_path'],
      'NODE_COMPILE_CACHE',
      ...[
        'synchronous_commit',
        'full_page_writes',
        'recovery_target_time',
        'pg_verifybackup',
        'backup_manifest',
        'pg_wal',
      ],
      ...['citus_add_node', 'isolate_tenant_to_new_shard'],
      // Addresses that the door does not have, and names of libraries of the national API.
      ...['regimes_especiais', 'retencoes'],
      ...[
        'base_url',
        'prefeiturasJsonPath',
        'emitirDpsPronta',
        'dhEvento',
        'chSubstituta',
        'AMBIENTE_ENDPOINTS',
        'urls_webservices',
      ],
      ...['pool_mode', 'default_pool_size', 'max_client_conn', 'max_prepared_statements'],
      ...['stop_grace_period', 'terminationGracePeriodSeconds', 'nfse_antes', 'pg_restore', 'createdb'],
      ...['extendedKeyUsage', 'emailProtection', 'clientAuth', 'serverAuth', 'anyExtendedKeyUsage', 'nameConstraints'],
    ]);
    for (const { name, text } of sources) {
      const prose = text.replace(/```[\s\S]*?```/g, '').replace(/\{\{[^}]*\}\}/g, '');
      // A page with the configuration of another program speaks of its names.
      const shown = (text.match(/```[\s\S]*?```/g) ?? []).join(' ');
      for (const [, code] of prose.matchAll(/`([^`\n]+)`/g)) {
        for (const word of code!.split(/[\s/.=]+/)) {
          // A word in the form of this service's names: of several words, or of a layout.
          if (!/^[a-z]+_[a-z_]+$|^[a-z]+[A-Z]\w+$|^X-[\w-]+$|^[A-Z]+_[A-Z_]+$/.test(word) || foreign.has(word))
            continue;
          assert.ok(known.includes(word) || shown.includes(word), `${name} names ${word}, of which nothing is known`);
        }
      }
    }
  });

  test('describe the variables of the environment in one table, which is made of theirs', () => {
    const readme = { name: 'README.md', text: readFileSync(path.join(ROOT, 'README.md'), 'utf8') };
    const tables = [...sources, readme].filter(({ text }) =>
      /^\{\{variaveis\}\}$|^\| *`(?:NFSE_|PORT|DATABASE_)/m.test(text),
    );
    assert.deepEqual(
      tables.map(({ name }) => name),
      ['operacao.md'],
    );
  });

  test('names settings that there are', () => {
    const text = sources.map((one) => one.text).join();
    const named = new Set(text.match(/\bNFSE_[A-Z_]+|\bDATABASE_URL\b/g));
    assert.ok(named.size > 2);
    assert.deepEqual([...named.difference(new Set(Object.keys(VARIABLES)))], []);
  });

  test('gives commands that there are, with options that they have', async () => {
    const commands = sources.flatMap(({ name, text }) =>
      [...text.replace(/\\\n\s*/g, ' ').matchAll(/npm run -s nfse -- (.+)$/gm)]
        .filter(([, line]) => !line!.startsWith('--help'))
        .map(([, line]) => ({ name, line: line!.replace(/`.*$/, '') })),
    );
    assert.ok(commands.length > 10);
    for (const { name, line } of commands) {
      const words = line.split(' ');
      const isFamily = /^(municipio|prestador|evento|nota|usuario|correlacao|token|webhook)$/.test(words[0]!);
      const isLista = LISTA_COMMANDS.some((one) => one.name.startsWith(`${words[0]} `));
      const command = words.slice(0, isFamily || isLista ? 2 : 1);
      // Its help lists options of the simulator, which are out of scope here.
      const run = command[0] === 'adn-simulador' ? nfse([...command, '--help'], {}) : nfseHere([...command, '--help']);
      const { code, out, err } = await run;
      assert.deepEqual([code, err], [0, ''], `${name}: ${line}`);
      for (const [option] of line.matchAll(/--[a-z0-9-]+/g)) {
        assert.ok(out.includes(`${option} `), `${name}: ${command.join(' ')} has no ${option}`);
      }
    }
  });

  test('is true where a sentence says what a table decides', () => {
    const all = sources.map(({ text }) => text).join('\n');
    // Positions of the two identifiers (specification, "Limits"; D-16).
    assert.match(all, /A chave de acesso tem 50 posições e o identificador da DPS, 45\./);
    assert.equal(T.chaveNFSe.max, 50);
    assert.equal(`DPS${'0'.repeat(7 + 1 + 14 + 5 + 15)}`.length, 45);
    assert.match(all, /220 é o dólar, 978 o euro/);
    assert.deepEqual([moedaOf('220')?.sigla, moedaOf('978')?.sigla], ['USD', 'EUR']);
    assert.match(all, /`tribISSQN` aceita 1 a 4/);
    assert.deepEqual(T.tribISSQN.values, ['1', '2', '3', '4']);
    assert.match(all, /`vincPrest` 0 é recusado; .* use 6/);
    assert.deepEqual([T.vincPrest.values?.includes('0'), T.vincPrest.values?.includes('6')], [false, true]);
    for (const [codigo, status] of [
      ['E0010', 422],
      ['E111', 410],
      ['E9016', 401],
      ['E302', 422],
    ] as const) {
      assert.equal(errorOf(codigo)?.status, status);
    }
  });
});

describe('the search', () => {
  const hits = async (asked: string): Promise<readonly string[]> => {
    const { status, body } = await request(address, `/docs/busca?q=${encodeURIComponent(asked)}`);
    assert.equal(status, 200);
    assertBalanced(body, asked);
    const [, results = ''] = /<ul class="results">([\s\S]*?)<\/ul>/.exec(body) ?? [];
    return [...results.matchAll(/<li><a href="([^"]*)"/g)].map(([, href]) => {
      const { pathname, hash } = new URL(href!, `${address}/docs/busca`);
      return decodeURIComponent(pathname + hash);
    });
  };

  test('finds what officials ask for in their own words', async () => {
    const asked = {
      backup: '/docs/operacao#cópia-de-segurança',
      'segunda via': '/docs/danfse',
      'baixar excel': '/docs/planilhas#no-console',
    };
    for (const [words, place] of Object.entries(asked)) {
      const found = (await hits(words)).slice(0, 3);
      assert.ok(found.includes(place), `${words}: ${found}`);
    }
    const tasks = {
      'esqueci a senha': 'entrar-e-a-senha-esquecida',
      'perdi o celular': 'entrar-e-a-senha-esquecida',
      'o que espera por mim': 'o-que-espera-por-mim',
      'deferir cancelamento': 'deferir-ou-indeferir-um-cancelamento',
      'cancelar de ofício': 'cancelar-uma-nota-de-ofício',
      'relatório mensal': 'o-mês-e-a-planilha',
      'quanto arrecadou': 'o-mês-e-a-planilha',
      'trocar certificado': 'trocar-o-certificado',
      'certificado vencido': 'trocar-o-certificado',
      'importar lista': 'importar-e-corrigir-uma-lista',
      'reclamação QR': 'uma-reclamação-com-o-qr-code-na-mão',
      logotipo: 'o-brasão-e-a-cor',
    };
    for (const [words, section] of Object.entries(tasks)) {
      const found = await hits(words);
      assert.equal(found[0], `/docs/prefeitura#${section}`, `${words}: ${found.slice(0, 5)}`);
    }
    for (const place of Object.keys(EVERYDAY_WORDS)) {
      const [slug, id] = place.split('#') as [string, string];
      const { body } = await request(address, `/docs/${slug}`);
      assert.ok(id === '' || body.includes(`id="${id}"`), place);
    }
  });

  test('finds the section that is about it', async () => {
    for (const [asked, wanted] of [
      ['assinatura xmlsec1', '/docs/assinatura#com-xmlsec1'],
      ['Idempotency-Key', '/docs/desfechos#repetir-com-a-mesma-chave'],
      ['cópia segurança', '/docs/operacao#cópia-de-segurança'],
      ['copia seguranca', '/docs/operacao#cópia-de-segurança'],
      ['PHP', '/docs/primeira-nota#php'],
      ['Wycheproof', '/docs/suites#wycheproof'],
      ['réplica promoção', '/docs/confiabilidade#réplica-e-promoção'],
      ['acao_sugerida', '/docs/estados#o-que-fazer-com-um-evento'],
      ['mesmo_conteudo', '/docs/erros/E0014'],
      ['E0840', '/docs/erros/E0840'],
      ['simples nacional', '/docs/calendario-ibs-cbs#quando-é-exigido'],
      ['qr', '/docs/danfse#o-que-ele-traz'],
      ['nota cancelada PDF', '/docs/danfse#a-marca-dágua'],
    ] as const) {
      const found = await hits(asked);
      assert.ok(found.includes(wanted), `${asked}: ${found.slice(0, 12).join(' ')}`);
    }
  });

  test('puts first what bears the name that was typed: a code, a field of either form, an operation, a page', async () => {
    for (const [asked, wanted] of [
      ['E0840', '/docs/erros/E0840'],
      ['e0840', '/docs/erros/E0840'],
      ['E310', '/docs/erros/E0310'],
      ['310', '/docs/erros/E0310'],
      ['E003', '/docs/erros/E003'],
      ['cTribNac', '/docs/leiaute#servcserv'],
      ['CTRIBNAC', '/docs/leiaute#servcserv'],
      ['codigo_tributacao_nacional', '/docs/leiaute#servcserv'],
      ['emitirNota', '/docs/api#/Emissão/emitirNota'],
      ['operação', '/docs/operacao'],
      ['operacao', '/docs/operacao'],
      ['certificado', '/docs/assinatura#o-certificado'],
      ['sandbox', '/docs/ensaio'],
      ['um ambiente só seu', '/docs/ensaio'],
      ['conferir um documento', '/docs/conferir'],
    ] as const) {
      const found = await hits(asked);
      assert.equal(found[0], wanted, `${asked}: ${found.slice(0, 5).join(' ')}`);
    }
    // Codes in turn, selected by their positions.
    for (const { codigo } of ERRORS.filter((_, place) => place % 7 === 0)) {
      assert.equal((await hits(codigo))[0], `/docs/erros/${codigo}`);
    }
  });

  test('does not mind plurals, accents, and words that say nothing', async () => {
    const plain = await hits('assinatura JSON');
    assert.deepEqual(await hits('assinaturas json'), plain);
    assert.deepEqual(await hits('a assinatura do JSON'), plain);
    assert.ok((await hits('retenções')).length > 0);
    assert.deepEqual(await hits('retencao'), await hits('retenção'));
  });

  test('suggests the same, the best first and few', async () => {
    for (const [asked, wanted] of [
      ['E0840', '/docs/erros/E0840'],
      ['cTribN', '/docs/leiaute#servcserv'],
      ['operaç', '/docs/operacao'],
    ] as const) {
      const { status, body, headers } = await request(address, `/docs/busca.json?q=${encodeURIComponent(asked)}`);
      assert.deepEqual([status, headers.get('content-type')], [200, 'application/json; charset=utf-8']);
      assert.ok(body.length > 0 && body.length <= 8, asked);
      const paths = body.map(({ caminho }: { caminho: string }) => {
        const { pathname, hash } = new URL(caminho, `${address}/docs/busca`);
        return decodeURIComponent(pathname + hash);
      });
      assert.ok(paths.slice(0, 3).includes(wanted), `${asked}: ${paths.join(' ')}`);
    }
    for (const asked of ['', ' ', '"<>', 'zzzzqqq']) {
      assert.deepEqual((await request(address, `/docs/busca.json?q=${encodeURIComponent(asked)}`)).body, []);
    }
  });

  test('leads to what there is, in every kind', async () => {
    const seen = new Set<string>();
    for (const asked of ['nota', 'certificado', 'prest', 'catálogo', 'E9', 'evento', 'endereço', 'xLgr']) {
      for (const path of await hits(asked)) seen.add(path);
    }
    assert.ok(seen.size > 60);
    for (const [at = '', hash] of [...seen].map((path) => path.split('#'))) {
      const { status, body } = answers.get(at) ?? (await request(address, at));
      assert.equal(status, 200, at);
      if (hash !== undefined && at !== REFERENCE_PATH) assert.ok(body.includes(` id="${hash}"`), `${at}#${hash}`);
    }
  });

  test('is a page without a question too, and the address that it had leads to it', async () => {
    const { status, body } = await request(address, '/docs/busca');
    assert.equal(status, 200);
    assert.match(body, /<h1>Busca<\/h1>/);
    const old = await fetch(`${address}/docs?q=${encodeURIComponent('ação & reação')}`, { redirect: 'manual' });
    assert.equal(old.status, 308);
    const to = new URL(old.headers.get('location')!, `${address}/docs`);
    assert.deepEqual([to.pathname, to.searchParams.get('q')], ['/docs/busca', 'ação & reação']);
    // Half a surrogate pair cannot be in an address.
    assert.equal((await request(address, `/docs/busca?q=${encodeURIComponent(`${'x'.repeat(79)}😀`)}`)).status, 200);
  });

  test('says that there is nothing, and repeats what was asked as text', async () => {
    const shown = textOf((await request(address, '/docs/busca?q=Como+os+endereços')).body);
    assert.ok(shown.includes(`${address}/integracao/api/v1/nfse/v101`), shown);
    const { body } = await request(address, '/docs/busca?q=zzzzqqq');
    assert.match(textOf(body), /Nada com todas essas palavras/);
    const sent = `"><script>alert(1)</script>${'x'.repeat(500)}`;
    const odd = await request(address, `/docs/busca?q=${encodeURIComponent(sent)}`);
    assert.ok(!odd.body.includes('<script>') && !odd.body.includes('x'.repeat(81)));
    assertBalanced(odd.body, 'injection');
  });

  test('of nothing is the first page', async () => {
    assert.equal((await request(address, '/docs?q=%20')).body, answers.get('/docs')!.body);
  });
});

describe('the calculator', () => {
  const result = async (fields: Readonly<Record<string, string>>): Promise<string> => {
    const { status, body } = await request(address, `/docs/calendario-ibs-cbs?${new URLSearchParams(fields)}`);
    assert.equal(status, 200);
    assertBalanced(body, JSON.stringify(fields));
    return textOf(/<section id="resultado"[\s\S]*?<\/section>/.exec(body)![0]).replace(/\s+/g, ' ');
  };

  // Specification, "IBS/CBS obligation schedule".
  for (const [codigo, simples, before, since, shown] of [
    ['010101', 'nao', '2026-09-30', '2026-10-01', '01/10/2026'],
    ['01.01.01', 'nao', '2026-09-30', '2026-10-01', '01/10/2026'],
    ['010301', 'nao', '2026-11-30', '2026-12-01', '01/12/2026'],
    ['160101', 'nao', '2026-11-30', '2026-12-01', '01/12/2026'],
    ['990101', 'nao', '2026-11-30', '2026-12-01', '01/12/2026'],
    ['010101', 'sim', '2026-12-31', '2027-01-01', '01/01/2027'],
    ['010301', 'sim', '2026-12-31', '2027-01-01', '01/01/2027'],
  ] as const) {
    test(`${codigo}, Simples ${simples}: due from ${shown}`, async () => {
      const early = await result({ codigo, simples, competencia: before });
      assert.match(early, /O grupo IBSCBS ainda não é exigido/);
      assert.ok(early.includes(shown));
      const due = await result({ codigo, simples, competencia: since });
      assert.match(due, /O grupo IBSCBS é exigido/);
      assert.ok(due.includes(shown));
    });
  }

  test('the amounts, by hand: 1,000.00 less 20.00 of ISSQN; 0.10 % and 0.00 % and 0.90 % of 980.00', async () => {
    const asked = { codigo: '010101', competencia: '20/11/2026', simples: 'nao', valor: '1.000,00', issqn: '20,00' };
    const text = await result(asked);
    for (const [campo, valor] of [
      ['vBC', '980.00'],
      ['vIBSUF', '0.98'],
      ['vIBSMun', '0.00'],
      ['vCBS', '8.82'],
      ['vIBSTot', '0.98'],
      ['vTotNF', '1000.00'],
    ] as const) {
      assert.match(text, new RegExp(`\\b${campo} .*? ${valor.replace('.', '\\.')} `), campo);
    }
    // The same values, in the form that a program would send.
    assert.equal(await result({ ...asked, competencia: '2026-11-20', valor: '1000', issqn: '20.00' }), text);
  });

  test('an amount is read as whoever types it means it, or told, and never another one', async () => {
    const of = async (valor: string): Promise<string> =>
      result({ codigo: '010101', competencia: '20/11/2026', simples: 'nao', valor });
    for (const [typed, vTotNF] of [
      ['1.000', '1000.00'],
      ['10.000', '10000.00'],
      ['1.500', '1500.00'],
      ['1.000.000', '1000000.00'],
      ['1.234.567,8', '1234567.80'],
      ['R$ 1.000,00', '1000.00'],
      ['1 000,00', '1000.00'],
      ['1\u00a0000,00', '1000.00'],
      ['1000,5', '1000.50'],
      ['1000.5', '1000.50'],
      ['1.5', '1.50'],
    ] as const) {
      assert.match(await of(typed), new RegExp(`\\bvTotNF .*? ${vTotNF.replace('.', '\\.')} `), typed);
    }
    for (const typed of ['1,000.00', '1,000', '1.00.000', '1000.000', '10.00,00', '1.000,000', '1e3', '-1', 'R$']) {
      if (typed === 'R$') assert.doesNotMatch(await of(typed), /vTotNF/);
      else
        assert.match(await of(typed), /Não deu para calcular.*O valor do serviço é um número.*como 1\.000,00/, typed);
    }
  });

  test('every classification can be told from the others', async () => {
    const [, select = ''] = /<select id="cclasstrib"[^>]*>([\s\S]*?)<\/select>/.exec(
      answers.get('/docs/calendario-ibs-cbs')!.body,
    )!;
    const names = [...select.matchAll(/<option value="\d{6}"[^>]*>\d{6} ([^<]*)</g)].map(([, name]) => name);
    // The README of the source table says: "73 codes are valid for the NFS-e".
    assert.equal(names.length, 73);
    assert.equal(new Set(names).size, 73);
  });

  test('a reduced classification: 30 % less gives 0.07 % and 0.63 %', async () => {
    const text = await result({ codigo: '010101', competencia: '2026-11-20', valor: '1000', cclasstrib: '200052' });
    assert.match(text, /vIBSUF .*? 0\.70 /);
    assert.match(text, /vCBS .*? 6\.30 /);
  });

  test('what nobody has published is not calculated', async () => {
    const text = await result({ codigo: '010101', competencia: '2027-02-01', valor: '1000' });
    assert.match(text, /nenhuma alíquota de CBS está publicada/);
  });

  test('what is wrong is said, all of it', async () => {
    const text = await result({
      codigo: '12',
      competencia: '2026-02-30',
      valor: 'mil',
      issqn: '-1',
      cclasstrib: '999999',
    });
    for (const says of [
      /tem 6 dígitos/,
      /competência é um dia/,
      /valor do serviço é um número/,
      /ISSQN é um número/,
      /classificação/,
    ]) {
      assert.match(text, says);
    }
    assert.match(await result({ codigo: '888888', competencia: '2026-11-20' }), /888888 não está na lista nacional/);
    assert.match(
      await result({ codigo: '010101', competencia: '2026-11-20', valor: '10', issqn: '11' }),
      /ISSQN passa/,
    );
  });

  test('what was typed comes back as text', async () => {
    const sent = `"><b onclick=x>`;
    const { body } = await request(address, `/docs/calendario-ibs-cbs?codigo=${encodeURIComponent(sent)}`);
    assert.ok(!body.includes('<b onclick'));
    assert.match(body, /value="&quot;&gt;&lt;b onclick=x&gt;"/);
  });
});
