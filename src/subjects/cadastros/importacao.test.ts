/**
 * The municipality's files: establishments with their Simples Nacional periods, and services with their rates. The tests check the stored
 * rows, the refusals and their reasons. A file is taken whole or not at all, and no issuer waits for an import.
 */

import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { before, describe, test } from 'node:test';
import { onEnd } from '../../../test/support/cleanup.ts';
import { nfseHere } from '../../../test/support/cli.ts';
import { cellsOf } from '../../../test/support/csv.ts';
import { databaseUrlOf, freshDatabase } from '../../../test/support/database.ts';
import { emit } from '../../../test/support/http.ts';
import { addPrestador } from '../../../test/support/municipio.ts';
import { freshFolder } from '../../../test/support/openssl.ts';
import { nfse, type Said } from '../../../test/support/process.ts';
import { startTestService } from '../../../test/support/service.ts';
import { type Db, openPool } from '../../base/pg/open.ts';
import type { PoolClient } from '../../base/pg/pg.ts';
import { municipios } from '../../fiscal/catalogs/catalogs.ts';
import { cnpjIsValid } from '../../fiscal/chave.ts';
import { exampleXml } from '../../fiscal/rules/example.ts';
import { migrate } from '../../wiring/migrate.ts';

/** CNPJ of the examples of the Receita Federal, one with letters (IN RFB 2.229/2024), and a CPF with right digits. */
const [A, B, C, PERSON] = ['11222333000181', '11444777000161', '12ABC34501DE35', '52998224725'];

const folder = freshFolder();
process.chdir(folder);
let env: NodeJS.ProcessEnv = {};
let pool: ReturnType<typeof openPool>;
let opened = 0;

before(async () => {
  const database = await freshDatabase();
  env = { DATABASE_URL: databaseUrlOf(database), NFSE_DATA_DIR: path.join(folder, 'never') };
  pool = openPool(database, () => undefined);
  onEnd(() => pool.end());
  await migrate(pool);
});

/** A municipality of the test's own: in production no two share a code. */
async function town(): Promise<string> {
  opened += 1;
  const slug = `alfa${opened}`;
  const said = await nfseHere(['municipio', 'criar', slug, '--ibge', municipios()[opened]!.codigoIbge], pool);
  assert.equal(said.code, 0, said.err);
  return slug;
}

const PRESTADOR = 'documento,razao_social,inscricao_municipal,autorizado,simples_inicio,simples_fim';
const SERVICO = 'codigo,descricao,codigo_tributacao_nacional,cnae_codigo,aliquota,inicio,fim';

function file(content: string | Buffer, name = 'entrada.csv'): string {
  writeFileSync(path.join(folder, name), content);
  return name;
}

function lines(header: string, ...rows: readonly string[]): string {
  return `${[header, ...rows].join('\n')}\n`;
}

type What = 'prestador' | 'servicos';

function importar(what: What, slug: string, content: string | Buffer, ...more: readonly string[]): Promise<Said> {
  return nfseHere([what, 'importar', file(content), '--municipio', slug, ...more], pool);
}

/** Imports a file that must be accepted, and returns the output. */
async function taken(what: What, slug: string, content: string | Buffer, ...more: readonly string[]): Promise<string> {
  const said = await importar(what, slug, content, ...more);
  assert.equal(said.code, 0, said.out + said.err);
  return said.out;
}

/** The refused lines, as number and reason; nothing was stored. */
async function refused(
  what: What,
  slug: string,
  content: string,
  ...more: readonly string[]
): Promise<Map<number, string>> {
  const { code, err } = await importar(what, slug, content, ...more);
  assert.equal(code, 1, err);
  assert.match(err, /Nada foi gravado/);
  return refusedIn(err);
}

function refusedIn(err: string): Map<number, string> {
  return new Map([...err.matchAll(/^ {2}linha (\d+): (.*)$/gm)].map(([, linha, motivo]) => [Number(linha), motivo!]));
}

/** The file as a whole was refused. */
async function rejected(what: What, slug: string, content: string | Buffer, problem: RegExp): Promise<void> {
  const { code, err } = await importar(what, slug, content);
  assert.equal(code, 1);
  assert.match(err, problem);
}

async function rows(text: string, slug: string): Promise<unknown[][]> {
  const found = await pool.query({ text, values: [slug], rowMode: 'array' });
  return found.rows;
}

const establishments = (slug: string): Promise<unknown[][]> =>
  rows(
    `select documento, inscricao_municipal, razao_social, autorizado from prestadores where tenant = $1
      order by documento, inscricao_comparavel`,
    slug,
  );
const periods = (slug: string): Promise<unknown[][]> =>
  rows('select documento, inicio::text, fim::text from simples_nacional where tenant = $1 order by 1, 2', slug);
const services = (slug: string): Promise<unknown[][]> =>
  rows(
    `select codigo, descricao, codigo_tributacao_nacional, cnae_codigo, aliquota, inicio::text, fim::text
      from servicos_municipais where tenant = $1 order by codigo, inicio`,
    slug,
  );

describe('nfse prestador importar', () => {
  test('in a process of its own: writes what is new, and the same file again changes nothing', async () => {
    const slug = await town();
    const name = file(
      lines(
        PRESTADOR,
        `${A},Empresa A Ltda,00.123-4,sim,2020-01-01,2022-12-31`,
        `${A},Empresa A Ltda,999,nao,01/07/2024,`,
        `11.444.777/0001-61,"Empresa ""B"", Ltda",,S,,`,
        `12.abc.345/01de-35,Empresa C,77,1,,`,
        `529.982.247-25,Fulana de Tal,5,TRUE,2007-07-01,`,
      ),
      'prestadores.csv',
    );
    const command = ['prestador', 'importar', name, '--municipio', slug];
    const first = await nfse(command, env, folder);
    assert.deepEqual([first.code, first.err], [0, '']);
    assert.match(first.out, /Lidas 5 linhas em .*: UTF-8, separador ","/);
    assert.match(
      first.out,
      /novos 5, alterados 0, iguais 0, retirados 0\.\nPeríodos do Simples Nacional de \S+: novos 3, alterados 0, iguais \d+, retirados 0/,
    );
    assert.match(first.out, /não estão no arquivo ficaram como estavam/);
    const written = [
      [A, '999', 'Empresa A Ltda', false],
      [A, '00.123-4', 'Empresa A Ltda', true],
      [B, '', 'Empresa "B", Ltda', true],
      [C, '77', 'Empresa C', true],
      [PERSON, '5', 'Fulana de Tal', true],
    ].toSorted((one, other) => (`${one[0]}` < `${other[0]}` ? -1 : 0));
    const sorted = (list: unknown[][]): string[] => list.map((one) => JSON.stringify(one)).sort();
    assert.deepEqual(sorted(await establishments(slug)), sorted(written));
    assert.deepEqual(await periods(slug), [
      [A, '2020-01-01', '2022-12-31'],
      [A, '2024-07-01', null],
      [PERSON, '2007-07-01', null],
    ]);

    const snapshot = await rows('select xmin::text, * from prestadores where tenant = $1 order by 3, 4', slug);
    const again = await taken('prestador', slug, readFileSync(path.join(folder, name)));
    assert.match(
      again,
      /novos 0, alterados 0, iguais 5, retirados 0\.\nPeríodos do Simples Nacional de \S+: novos 0, alterados 0, iguais \d+, retirados 0/,
    );
    assert.deepEqual(
      await rows('select xmin::text, * from prestadores where tenant = $1 order by 3, 4', slug),
      snapshot,
      'not a row was written',
    );
  });

  test('a line that exists is updated; who is absent stays; the file says what the Simples periods of its providers are', async () => {
    const slug = await town();
    await taken(
      'prestador',
      slug,
      lines(
        PRESTADOR,
        `${A},Nome,0012,sim,2020-01-01,2021-12-31`,
        `${A},Nome,0012,sim,2023-01-01,`,
        `${B},B,1,sim,2020-01-01,`,
      ),
    );
    const said = await taken('prestador', slug, lines(PRESTADOR, `${A},Outro Nome,12,não,2023-01-01,2025-12-31`));
    assert.match(
      said,
      /novos 0, alterados 1, iguais 0, retirados 0\.\nPeríodos do Simples Nacional de \S+: novos 0, alterados 1, iguais \d+, retirados 1/,
    );
    assert.deepEqual(await establishments(slug), [
      [A, '12', 'Outro Nome', false],
      [B, '1', 'B', true],
    ]);
    assert.deepEqual(await periods(slug), [
      [A, '2023-01-01', '2025-12-31'],
      [B, '2020-01-01', null],
    ]);
    await taken('prestador', slug, lines(PRESTADOR, `${A},Outro Nome,12,não,,`));
    assert.deepEqual(await periods(slug), [[B, '2020-01-01', null]]);
  });

  test('the columns stand in any order, and the file as spreadsheets write it', async () => {
    const header = 'Autorizado;SIMPLES_FIM;inscricao_municipal;documento;simples_inicio;razao_social';
    const text = `${header}\r\nsim;;7;${A};;José & Irmãos\r\n`;
    for (const [bytes, encoding] of [
      [Buffer.from(`\ufeff${text}`), /: UTF-8, separador ";"/],
      [Buffer.from(text, 'latin1'), /: Latin-1 \(o arquivo não é UTF-8; confira os acentos\), separador ";"/],
    ] as const) {
      const slug = await town();
      assert.match(await taken('prestador', slug, bytes), encoding);
      assert.deepEqual(await establishments(slug), [[A, '7', 'José & Irmãos', true]]);
    }
  });

  test('an address and more, where the file has them; without them what is there is not touched', async () => {
    const slug = await town();
    const more = 'nome_fantasia,logradouro,numero,complemento,bairro,cep,fone,email';
    const address = (): Promise<unknown[][]> =>
      rows(`select documento, ${more} from prestadores where tenant = $1 order by 1`, slug);
    const said = await taken('prestador', slug, lines(PRESTADOR, `${B},B,1,sim,,`));
    assert.match(said, /não traz endereço.*"Endereço não informado"/);
    const unknown = [null, 'Endereço não informado', 'S/N', null, 'Centro', '00000000', null, null];
    assert.deepEqual(await address(), [[B, ...unknown]]);
    await taken(
      'prestador',
      slug,
      lines(
        `${PRESTADOR},${more}`,
        `${A},A,1,sim,,,A Loja,Rua Um,,Sala 2,Sé,01001-000,(11) 3333-4444,a@exemplo.br`,
        `${B},B,1,sim,,,,,,,,,,`,
      ),
    );
    const known = ['A Loja', 'Rua Um', 'S/N', 'Sala 2', 'Sé', '01001000', '1133334444', 'a@exemplo.br'];
    assert.deepEqual(await address(), [
      [A, ...known],
      [B, ...unknown],
    ]);
    await taken('prestador', slug, lines(PRESTADOR, `${A},A,1,nao,,`));
    assert.deepEqual((await address())[0], [A, ...known]);
    await rejected(
      'prestador',
      slug,
      lines(`${PRESTADOR},logradouro`, `${A},A,1,sim,,,Rua`),
      /precisa também de bairro, cep/,
    );
    const bad = await refused('prestador', slug, lines(`${PRESTADOR},${more}`, `${A},A,1,sim,,,,Rua Um,,,,0100,12,`));
    assert.match(bad.get(2)!, /bairro está vazio; cep .*; fone /);
  });

  test('every bad line is told with its number and all its reasons, and nothing is written', async () => {
    const slug = await town();
    const bad = await refused(
      'prestador',
      slug,
      lines(
        PRESTADOR,
        `${A},Boa,1,sim,,`,
        `11222333000180,X,1,sim,,`,
        `1222333000181,X,1,sim,,`,
        `52998224720,X,1,sim,,`,
        `,,,,,`,
        `,X,,talvez,,`,
        `${A},,2,,31/02/2024,`,
        `${A},X,3,sim,,2024-01-01`,
        `${A},X,4,sim,2024-01-02,2024-01-01`,
        `${A},${'x'.repeat(301)},5,sim,,`,
        `${A},X,1234567890123456,sim,,`,
        `${A},X,6,sim`,
        `${A},X "Y",7,sim,,`,
        `${A},"X,8,sim,,`,
        `${B},Boa,9,sim,1/2/2024,`,
        `${B},Boa,\u201377,sim,,`,
        `${B},Boa,--/--,sim,,`,
      ),
    );
    const reasons: Record<number, RegExp> = {
      3: /^documento não é um CNPJ: os dígitos verificadores não conferem$/,
      4: /^documento tem 13 posições, e com os zeros à esquerda também não é CPF nem CNPJ/,
      5: /^documento não é um CPF: os dígitos verificadores/,
      7: /^documento está vazio; autorizado não é sim nem não$/,
      8: /^razao_social está vazio; simples_inicio traz um dia que não existe \(31\/02\/2024\); autorizado está vazio$/,
      9: /^simples_fim veio sem simples_inicio$/,
      10: /^simples_fim é anterior a simples_inicio$/,
      11: /^razao_social tem 301 caracteres, e o campo aceita de 1 a 300$/,
      12: /^inscricao_municipal /,
      13: /^a linha tem 4 campos, e o cabeçalho 6$/,
      14: /^há aspas no meio de um campo/,
      15: /^as aspas que abrem um campo não se fecham$/,
      16: /^simples_inicio não é uma data \(AAAA-MM-DD ou DD\/MM\/AAAA\)$/,
      17: /^inscricao_municipal tem na posição 1 o caractere "–" \(U\+2013\).*\(use: -77\)$/,
      18: /^inscricao_municipal não tem letras nem dígitos; deixe vazio quando não há$/,
    };
    assert.deepEqual([...bad.keys()], Object.keys(reasons).map(Number), JSON.stringify([...bad]));
    for (const [linha, reason] of Object.entries(reasons)) assert.match(bad.get(Number(linha))!, reason);
    assert.deepEqual(await establishments(slug), []);
    for (const motivo of bad.values()) assert.ok(!/52998224720|11222333000180/.test(motivo), 'no document is repeated');
  });

  test('what only the whole file shows: the same registration twice, and periods that overlap', async () => {
    const slug = await town();
    const bad = await refused(
      'prestador',
      slug,
      lines(
        PRESTADOR,
        `${A},A,123,sim,2020-01-01,2020-12-31`,
        `${A},A,123,sim,2021-01-01,2021-12-31`,
        `${A},A,123,sim,2020-01-01,2020-12-31`,
        `${A},A,0123,sim,,`,
        `${A},A,124,sim,2021-12-31,2022-12-31`,
        `${B},B,1,sim,2020-01-01,`,
        `${B},B,2,sim,2020-01-01,2020-12-31`,
        `${B},Nome Bom,3,sim,2020-01-01,`,
        `${B},Nome Ruim,3,sim,2020-01-01,`,
      ),
    );
    assert.deepEqual(
      [...bad],
      [
        [5, 'repete a chave da linha 2 com outros dados'],
        [6, 'o período se sobrepõe ao da linha 3'],
        [8, 'o período se sobrepõe ao da linha 7'],
        [10, 'repete a chave da linha 9 com outros dados'],
      ],
    );
  });

  test('--parcial takes the good lines; what is known of a provider with a refused one is not taken away', async () => {
    const slug = await town();
    await taken(
      'prestador',
      slug,
      lines(PRESTADOR, `${A},A,1,sim,2010-01-01,2010-12-31`, `${B},B,1,sim,2010-01-01,2010-12-31`),
    );
    const content = lines(
      PRESTADOR,
      `${A},A Nova,1,sim,2020-01-01,`,
      `${A},A,2,quem sabe,2010-01-01,2010-12-31`,
      `${B},B Nova,1,sim,2020-01-01,`,
      `11222333000180,Ninguém,1,sim,,`,
    );
    const whole = await importar('prestador', slug, content);
    assert.equal(whole.code, 1);
    assert.match(whole.err, /Há 2 linhas recusadas[\s\S]*ou grave as demais com --parcial/);
    assert.equal((await establishments(slug))[0]?.[2], 'A');
    const said = await importar('prestador', slug, content, '--parcial');
    assert.equal(said.code, 0);
    assert.deepEqual([...refusedIn(said.err).keys()], [3, 5]);
    assert.match(said.out, /novos 0, alterados 2, iguais 0/);
    assert.deepEqual(await periods(slug), [
      [A, '2010-01-01', '2010-12-31'],
      [A, '2020-01-01', null],
      [B, '2020-01-01', null],
    ]);
    // A stored period that overlaps the file is deleted all the same.
    const over = lines(PRESTADOR, `${A},A Nova,1,sim,2010-06-01,`, `${A},,2,sim,,`);
    assert.equal((await importar('prestador', slug, over, '--parcial')).code, 0);
    assert.deepEqual(
      (await periods(slug)).filter(([documento]) => documento === A),
      [[A, '2010-06-01', null]],
    );
    const none = await importar('prestador', slug, lines(PRESTADOR, ',X,1,sim,,'), '--parcial');
    assert.equal(none.code, 1);
    assert.match(none.err, /Nada foi gravado. Corrija as linhas e importe de novo\.\n/);
  });

  test('the screen shows the first hundred refused lines, --erros writes all of them', async () => {
    const slug = await town();
    const bad = Array.from({ length: 250 }, (_, place) => `${A},"Nome; ""x""",${place},sim,,2020-01-0${place % 9}`);
    const said = await importar('prestador', slug, lines(PRESTADOR, ...bad), '--erros', 'erros.csv');
    assert.equal(said.code, 1);
    assert.equal(refusedIn(said.err).size, 100);
    assert.match(
      said.err,
      /Há 250 linhas recusadas[\s\S]*mais 150; aqui só as 100 primeiras, todas estão em erros\.csv/,
    );
    const report = readFileSync(path.join(folder, 'erros.csv'), 'utf8').trimEnd().split('\r\n');
    assert.equal(report.length, 251);
    assert.equal(report[0], `\ufefflinha;motivo;${PRESTADOR.replaceAll(',', ';')}`);
    assert.match(report[250]!, /^'?251;simples_fim veio sem simples_inicio;'11222333000181;"Nome; ""x""";/);
    await taken('prestador', slug, lines(PRESTADOR, `${A},A,1,sim,,`), '--erros', 'erros.csv');
    assert.equal(
      readFileSync(path.join(folder, 'erros.csv'), 'utf8'),
      `\ufefflinha;motivo;${PRESTADOR.replaceAll(',', ';')}\r\n`,
      'no report of another day stays',
    );
    const own = await importar('prestador', slug, lines(PRESTADOR, `${A},A,1,sim,,`), '--erros', './entrada.csv');
    assert.equal(own.code, 1);
    assert.match(own.err, /--erros indica o próprio arquivo/);
    assert.match(readFileSync(path.join(folder, 'entrada.csv'), 'utf8'), /^documento/);
    const away = await importar('prestador', slug, lines(PRESTADOR, `${A},A,1,sim,,`), '--erros', 'nada/erros.csv');
    assert.match(away.err, /nada\/erros\.csv, de --erros, não pode ser escrito/);
  });

  test('a file that is none, a header that does not fit, a municipality that is not there', async () => {
    const slug = await town();
    await rejected('prestador', slug, '', /está vazio: falta a linha de cabeçalho/);
    await rejected('prestador', slug, Buffer.from('PK\x03\x04'), /não pôde ser lido como planilha/);
    await rejected('prestador', slug, `${PRESTADOR}\n\n`, /só tem o cabeçalho/);
    await rejected(
      'prestador',
      slug,
      lines('documento,ramo,inscricao_municipal,documento,simples_inicio,simples_fim', 'x'),
      /falta a coluna razao_social; coluna desconhecida: ramo; coluna repetida: documento\. O arquivo precisa/,
    );
    await rejected('prestador', 'ninguem', lines(PRESTADOR, `${A},A,1,sim,,`), /não existe o município ninguem/);
    const absent = await nfseHere(['prestador', 'importar', 'nada.csv', '--municipio', slug], pool);
    assert.match(absent.err, /o arquivo nada\.csv não existe/);
    const nobodys = await nfseHere(['prestador', 'importar', 'nada.csv'], pool);
    assert.deepEqual([nobodys.code, /Falta --municipio/.test(nobodys.err)], [2, true]);
  });

  test('of one tenant: the registry of another is not touched', async () => {
    const [slug, other] = [await town(), await town()];
    await taken('prestador', other, lines(PRESTADOR, `${A},Do outro,1,sim,2020-01-01,`));
    await taken('prestador', slug, lines(PRESTADOR, `${A},Deste,1,nao,,`));
    assert.deepEqual(await establishments(other), [[A, '1', 'Do outro', true]]);
    assert.equal((await periods(other)).length, 1);
  });

  test('in the sandbox the registry takes the place of what a first DPS had brought', async () => {
    const guess = { nome: 'Da DPS', origem: 'dps' } as const;
    await nfseHere(['municipio', 'mostrar', 'integracao'], pool);
    await addPrestador(pool, 'integracao', A, guess);
    await addPrestador(pool, 'integracao', B, guess);
    await taken('prestador', 'integracao', lines(PRESTADOR, `${A},Do cadastro,55,sim,,`));
    assert.deepEqual(await establishments('integracao'), [
      [A, '55', 'Do cadastro', true],
      [B, '', 'Da DPS', true],
    ]);
  });
});

describe('many lines', () => {
  /** Valid documents with different roots. */
  function documents(count: number): string[] {
    const found: string[] = [];
    for (let root = 10_000_000; found.length < count; root += 1) {
      for (let digits = 0; digits < 100; digits += 1) {
        const cnpj = `${root}0001${String(digits).padStart(2, '0')}`;
        if (cnpjIsValid(cnpj)) {
          found.push(cnpj);
          break;
        }
      }
    }
    return found;
  }

  type Plan = {
    readonly 'Node Type': string;
    readonly 'Relation Name'?: string;
    readonly Plans?: readonly Plan[];
  };

  /** The same pool; its connections ask for the plan of each statement over many lines before they run it. */
  function explained(pool: Db, plans: Plan[]): Db {
    const asking = (client: PoolClient): PoolClient =>
      new Proxy(client, {
        get: (of, name) => {
          const value = Reflect.get(of, name) as unknown;
          if (typeof value !== 'function') return value;
          if (name !== 'query') return value.bind(of);
          return async (text: unknown, values?: unknown[]) => {
            if (typeof text === 'string' && /\bunnest\(/.test(text)) {
              const { rows } = await of.query<{ 'QUERY PLAN': [{ Plan: Plan }] }>(
                `explain (format json) ${text}`,
                values,
              );
              plans.push(rows[0]!['QUERY PLAN'][0].Plan);
            }
            return value.call(of, text, values);
          };
        },
      });
    return new Proxy(pool, {
      get: (of, name) => {
        if (name === 'connect') return async () => asking(await of.connect());
        const value = Reflect.get(of, name) as unknown;
        return typeof value === 'function' ? value.bind(of) : value;
      },
    });
  }

  /** Tables that are read by a sequential scan, and rows that a Materialize node scans again and again. */
  function wasteIn(plan: Plan): string[] {
    const { 'Node Type': node, 'Relation Name': table } = plan;
    const own = node === 'Seq Scan' ? [table!] : node === 'Materialize' ? [node] : [];
    return [...own, ...(plan.Plans ?? []).flatMap(wasteIn)];
  }

  test('twenty thousand are taken without looking at all of them for each, all or nothing, also by two at once', async () => {
    const slug = await town();
    const good = documents(20_000).map(
      (one, place) => `${one},Empresa ${place},${place},sim,${place % 3 ? '' : '2020-01-01'},`,
    );
    const spoiled = await importar('prestador', slug, lines(PRESTADOR, ...good.with(19_999, 'x,y,z,sim,,')));
    assert.equal(spoiled.code, 1);
    assert.deepEqual([...refusedIn(spoiled.err).keys()], [20_001]);
    assert.deepEqual(await establishments(slug), []);

    const command = (name: string): readonly string[] => ['prestador', 'importar', name, '--municipio', slug];
    const plans: Plan[] = [];
    const said = await nfseHere(command(file(lines(PRESTADOR, ...good))), explained(pool, plans));
    assert.equal(said.code, 0, said.err);
    assert.match(said.out, /novos 20\.000, alterados 0, iguais 0/);
    // Another beginning of each period: the stored periods are deleted.
    const later = good.map((line) => line.replace('2020-01-01', '2021-01-01'));
    const moved = await nfseHere(command(file(lines(PRESTADOR, ...later))), explained(pool, plans));
    assert.match(
      moved.out,
      /iguais 20\.000, retirados 0\.\nPeríodos do Simples Nacional de \S+: novos 6\.667, alterados 0, iguais 0, retirados 6\.667/,
    );
    // The duration depends on the machine. The plans must show linear cost: a million lines may take fifty times as long, not the square.
    assert.ok(plans.length >= 8, String(plans.length));
    for (const plan of plans) assert.deepEqual(wasteIn(plan), [], JSON.stringify(plan));

    const changed = file(lines(PRESTADOR, ...good.map((line) => line.replace('Empresa', 'Firma'))));
    const both = await Promise.all([1, 2].map(() => nfseHere(command(changed), pool)));
    const told = both.map(({ out }) => /alterados (\S+), iguais (\S+),/.exec(out)!.slice(1).join(' ')).sort();
    assert.deepEqual(told, ['0 20.000', '20.000 0'], 'one after the other');
  });

  test('a terminal shows a bar, which is gone at the end', async () => {
    const slug = await town();
    const content = lines(PRESTADOR, ...documents(200).map((one) => `${one},Empresa,1,sim,,`));
    const command = ['prestador', 'importar', file(content), '--municipio', slug];
    const { out } = await nfseHere(command, pool, true);
    const [bar, account] = out.replaceAll('\r\x1b[K', '|').split('|Lidas');
    assert.match(bar!, /\|█{30} 100 % {2}200 linhas\|200 linhas lidas; conferindo.*\|200 linhas lidas; gravando…$/);
    assert.match(account!, /^ 200 linhas em/);
  });

  test('a note of a provider in them does not wait: neither for the reading nor for the writing', async () => {
    const { address, pool: own } = await startTestService({ worker: false });
    const holder = await own.connect();
    // The locks of an import while it writes: its rows, and the tenant's.
    await holder.query('begin');
    await holder.query(`select 1 from municipios where tenant = 'integracao' for no key update`);
    await addPrestador(holder, 'integracao', A, { im: '123456', nome: 'Do arquivo' });
    const first = await emit(address, exampleXml({ serie: '1', nDPS: '1' }));
    assert.equal(first.status, 201);
    await holder.query('commit');
    holder.release();
    const second = await emit(address, exampleXml({ serie: '1', nDPS: '2' }));
    assert.equal(second.status, 201);
    assert.match(second.body.xml_nfse, /<xNome>Do arquivo<\/xNome>/);
  });
});

describe('nfse servicos importar', () => {
  test('in a process of its own: lines with their rates and dates, and the same file again changes nothing', async () => {
    const slug = await town();
    const content = lines(
      SERVICO,
      '001,Análise de sistemas,010101,6201-5/01,2,2020-01-01,2025-12-31',
      '001,Análise de sistemas,01.01.01,6201501,"2,50",2026-01-01,',
      '002,Consultoria,170101,,,01/01/2020,',
      '003,Obra,070201,,0.00,2020-01-01,',
    );
    const command = ['servicos', 'importar', file(content, 'servicos.csv'), '--municipio', slug];
    const said = await nfse(command, env, folder);
    assert.deepEqual([said.code, said.err], [0, '']);
    assert.match(said.out, /novos 4, alterados 0, iguais 0, retirados 0/);
    assert.deepEqual(await services(slug), [
      ['001', 'Análise de sistemas', '010101', '6201501', '2.00', '2020-01-01', '2025-12-31'],
      ['001', 'Análise de sistemas', '010101', '6201501', '2.50', '2026-01-01', null],
      ['002', 'Consultoria', '170101', null, null, '2020-01-01', null],
      ['003', 'Obra', '070201', null, '0.00', '2020-01-01', null],
    ]);
    assert.match(await taken('servicos', slug, content), /novos 0, alterados 0, iguais 4, retirados 0/);
  });

  test('of a code in the file the lines are those of the file; other codes stay', async () => {
    const slug = await town();
    await taken('servicos', slug, lines(SERVICO, '001,A,010101,,2,2020-01-01,', '002,B,170101,,5,2020-01-01,'));
    const said = await taken(
      'servicos',
      slug,
      lines(SERVICO, '001,A,010101,,2,2020-01-01,2026-06-30', '001,A,010101,,3,2026-07-01,'),
    );
    assert.match(said, /novos 1, alterados 1, iguais 0, retirados 0/);
    assert.match(
      await taken('servicos', slug, lines(SERVICO, '001,A,010101,,4,2021-01-01,')),
      /novos 1, alterados 0, iguais 0, retirados 2/,
    );
    assert.deepEqual(
      (await services(slug)).map(([codigo, , , , aliquota]) => [codigo, aliquota]),
      [
        ['001', '4.00'],
        ['002', '5.00'],
      ],
    );
  });

  test('every bad line is told with its number and all its reasons', async () => {
    const slug = await town();
    const bad = await refused(
      'servicos',
      slug,
      lines(
        SERVICO,
        '001,Boa,010101,,5,2020-01-01,',
        ',,,,,,x',
        'a b,X,999999,12,5,2020-01-01,',
        '003,X,010100,,100.01,2020-01-01,',
        '004,X,10101,,5.001,2020-01-01,2019-12-31',
        '005,X,1.1,,-1,2020-13-01,',
        '001,Boa,010101,,5,2019-01-01,',
        '001,Outra,010101,,5,2020-01-01,',
      ),
    );
    const reasons: Record<number, RegExp> = {
      // The refused line of two that overlap is the one that begins later.
      2: /^o período se sobrepõe ao da linha 8$/,
      3: /^codigo está vazio; descricao está vazio; codigo_tributacao_nacional está vazio; fim não é uma data .*; inicio está vazio$/,
      4: /^codigo tem mais de 20 posições.*; codigo_tributacao_nacional 999999 não existe na lista nacional; cnae_codigo não tem 7/,
      5: /^codigo_tributacao_nacional 010100 é um título .*; aliquota passa de 5 %/,
      6: /^aliquota não é um percentual.*; fim é anterior a inicio$/,
      7: /^codigo_tributacao_nacional \S+ não tem 6 dígitos; aliquota .*; inicio traz um dia que não existe/,
      9: /^repete a chave da linha 2 com outros dados$/,
    };
    assert.deepEqual([...bad.keys()], Object.keys(reasons).map(Number), JSON.stringify([...bad]));
    for (const [linha, reason] of Object.entries(reasons)) assert.match(bad.get(Number(linha))!, reason);
    assert.deepEqual(await services(slug), []);
  });

  test('remarks on what was taken alone, not on refused lines', async () => {
    const content = lines(
      SERVICO,
      '001,A,010101,,1,2020-01-01,',
      '1.02,B,010101,,1,2020-01-01,2019-01-01',
      '1.03,C,010101,,1,2020-01-01,',
      '1.03,Outra,010101,,1,2020-01-01,',
      '1.03,D,010101,,1,2020-06-01,',
    );
    const slug = await town();
    const asked = await importar('servicos', slug, content, '--parcial');
    assert.equal(asked.code, 1);
    assert.match(asked.err, /Confirme: Linhas com alíquota abaixo de 2 %.*: 2\./);
    assert.deepEqual(await services(slug), []);
    const said = await importar('servicos', slug, content, '--parcial', '--confirmar');
    assert.equal(said.code, 0);
    assert.match(said.err, /Há 3 linhas recusadas/);
    assert.match(said.out, /não cabe em cTribMun .*: 1\./);
  });

  test('the example of the project draws no remark', async () => {
    const example = readFileSync(new URL('../../../examples/servicos.csv', import.meta.url), 'utf8');
    assert.doesNotMatch(await taken('servicos', await town(), example), /Linhas com/);
  });

  test('is listed as the file that it could be imported from again', async () => {
    const slug = await town();
    const rows = [
      '001,"Análise, projeto e ""outros""",010101,6201501,"2,00",2024-01-01,2024-12-31',
      '001,Análise,010101,,,2025-01-01,',
    ];
    const content = lines(SERVICO, ...rows);
    const [listed, exported] = ['listar', 'exportar'].map(
      (what) => (): Promise<Said> => nfseHere(['servicos', what, '--municipio', slug], pool),
    ) as [() => Promise<Said>, () => Promise<Said>];
    const none = await listed();
    assert.deepEqual([none.code, none.out], [0, '']);
    assert.match(none.err, /Serviços: o município não tem nenhuma linha assim\./);
    await taken('servicos', slug, content);
    assert.match(
      (await listed()).out,
      /^codigo +descricao .*\n001 +Análise, projeto e "outros" .*2\.00 +2024-01-01 +2024-12-31\n/,
    );
    const asked = ['servicos', 'listar', '--municipio', slug, '--procurar', 'analise PROJETO', '--json'];
    const [found] = JSON.parse((await nfseHere(asked, pool)).out);
    assert.deepEqual([found.codigo, found.inicio, found.cnae_codigo], ['001', '2024-01-01', '6201501']);
    const { out } = await exported();
    assert.deepEqual(await cellsOf(path.join(folder, file(out))), await cellsOf(path.join(folder, file(content))));
    assert.match(await taken('servicos', slug, out), /iguais 2, retirados 0/);
    const { code, err } = await nfseHere(['servicos', 'listar'], pool);
    assert.equal(code, 2);
    assert.match(err, /Falta --municipio SLUG/);
  });

  test('tells of codes that a DPS cannot name', async () => {
    const slug = await town();
    const said = await taken(
      'servicos',
      slug,
      lines(SERVICO, '1.01,A,010101,,2,2020-01-01,', '002,B,170101,,5,2020-01-01,'),
    );
    assert.match(said, /não cabe em cTribMun .*: 1\./);
  });
});
