/** The rates of the IBS and the CBS as an operator imports them. A service that lacks a rate says so in its answers. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { before, describe, test } from 'node:test';
import { nfseHere } from '../../../test/support/cli.ts';
import { freshDatabase, freshPool } from '../../../test/support/database.ts';
import { emit, request } from '../../../test/support/http.ts';
import { freshFolder } from '../../../test/support/openssl.ts';
import { ROOT, type Said } from '../../../test/support/process.ts';
import { startTestService } from '../../../test/support/service.ts';
import { avisosDeAliquotas } from '../../base/world/avisos-aliquotas.ts';
import { tabelaEmbarcada } from '../../fiscal/aliquotas-ibs-cbs.ts';
import { LINHAS_IBS_CBS } from '../../fiscal/catalogs/catalogs.ts';
import { exampleXml } from '../../fiscal/rules/example.ts';
import { migrate } from '../../wiring/migrate.ts';
import { createStore } from '../../wiring/store.ts';
import { REPEATED } from './aliquotas.job.ts';

const folder = freshFolder();
const HEAD = 'tributo,uf,municipio,cclasstrib,inicio,fim,aliquota,fonte,ato';
const CBS_2027 = 'CBS,,,,2027-01-01,2027-12-31,"8,80",DOU de 30/12/2026,Resolução do Senado 1/2026';

const LINHAS =
  'IBS-UF, IBS-MUN, CBS, REDUTOR-COMPRA-GOV, TRANSFERENCIA-CBS-GOV, CRED-PRES-01-IBS, CRED-PRES-01-CBS, CRED-PRES-02-IBS ou CRED-PRES-02-CBS';

let pool: Awaited<ReturnType<typeof freshPool>>;

before(async () => {
  pool = await freshPool();
});

function file(...lines: readonly string[]): string {
  const place = path.join(folder, 'aliquotas.csv');
  writeFileSync(place, `${[HEAD, ...lines].join('\n')}\n`);
  return place;
}

/** A day of the last month with rates for everything. */
const NOW = Date.parse('2026-12-15T12:00:00-03:00');

function run(args: readonly string[], on = pool): Promise<Said> {
  return nfseHere(args, on, false, undefined, () => NOW);
}

function importar(lines: readonly string[], on = pool): Promise<Said> {
  return run(['aliquotas', 'importar', file(...lines)], on);
}

async function refused(...lines: readonly string[]): Promise<readonly string[]> {
  const before = await versions();
  const { code, err } = await importar(lines);
  assert.equal(code, 1, err);
  assert.match(err, /Nada foi gravado/);
  assert.doesNotMatch(err, /--parcial/, 'rates are taken whole');
  assert.equal(await versions(), before);
  return [...err.matchAll(/^ {2}linha (\d+: .*)$/gm)].map(([, told]) => told!);
}

async function versions(on = pool): Promise<number> {
  const { rows } = await on.query<{ count: number }>('select count(*)::int as count from tabelas_aliquotas');
  return rows[0]!.count;
}

describe('nfse aliquotas importar', () => {
  test('the table that the program ships is the first import, once, and what the service reads', async () => {
    const shipped = await createStore(pool).aliquotas.readTabela();
    assert.equal(shipped.versao, 1);
    const told = ({ linhas }: typeof shipped): string[] =>
      linhas
        .map((one) => JSON.stringify(Object.entries({ ...one, aliquota: Number(one.aliquota) }).toSorted()))
        .toSorted();
    assert.deepEqual(told(shipped), told(tabelaEmbarcada()));
    await migrate(pool);
    assert.equal(await versions(), 1);
  });

  test('every line that is wrong is told with its number and how to mend it, and nothing is taken', async () => {
    assert.deepEqual(
      await refused(
        'PIS,,,,2027-01-01,,1,fonte,ato',
        'CBS,SP,,,2027-01-01,,1,fonte,ato',
        'IBS-UF,XX,,,2027-01-01,,1,fonte,ato',
        'IBS-MUN,,3550309,,2027-01-01,,1,fonte,ato',
        'IBS-UF,,3550308,,2027-01-01,,1,fonte,ato',
        'CBS,,,999999,2027-01-01,,1,fonte,ato',
        'CBS,,,,2025-12-31,,1,fonte,ato',
        'CBS,,,,2027-02-30,,1,fonte,ato',
        'CBS,,,,2027-06-01,2027-05-31,1,fonte,ato',
        'CBS,,,,2029-01-01,,"8,80 %",fonte,ato',
        'CBS,,,,2029-01-01,,,fonte,ato',
        'CBS,,,,2029-01-01,,8.80001,,',
        CBS_2027,
        'REDUTOR-COMPRA-GOV,SP,,,2027-01-01,,1,fonte,ato',
        'TRANSFERENCIA-CBS-GOV,,3550308,,2027-01-01,,1,fonte,ato',
        'CRED-PRES-01-CBS,,,410014,2027-01-01,,1,fonte,ato',
        'REDUTOR-COMPRA-GOV,,,,2027-01-01,,100,fonte,ato',
        'CRED-PRES-02-IBS,,,,2027-01-01,,"1,125",fonte,ato',
        'CRED-PRES-03-CBS,,,,2027-01-01,,1,fonte,ato',
      ),
      [
        `2: tributo PIS não existe: use ${LINHAS}`,
        '3: uf só se usa com IBS-UF; deixe-a vazia em CBS',
        '4: uf XX não é a sigla de um estado, como SP',
        '5: municipio 3550309 não é o código IBGE, de 7 dígitos, de nenhum município',
        '6: municipio só se usa com IBS-MUN; deixe-o vazio em IBS-UF',
        '7: cclasstrib 999999 não existe na tabela de classificação tributária',
        '8: inicio é anterior a 01/01/2026, a primeira competência do IBS e da CBS',
        '9: inicio traz um dia que não existe (2027-02-30)',
        '10: fim é anterior a inicio',
        '11: aliquota 8,80 % não é um percentual de 0 a 100 com até quatro casas decimais, sem o sinal %',
        '12: aliquota está vazia: uma alíquota que ainda não foi publicada fica fora do arquivo',
        '13: aliquota 8.80001 não é um percentual de 0 a 100 com até quatro casas decimais, sem o sinal %; fonte está vazio: onde a alíquota foi lida; ato está vazio: a norma que a fixa',
        '15: uf só se usa com IBS-UF; deixe-a vazia em REDUTOR-COMPRA-GOV',
        '16: municipio só se usa com IBS-MUN; deixe-o vazio em TRANSFERENCIA-CBS-GOV',
        '17: cclasstrib só se usa com IBS-UF, IBS-MUN, CBS; deixe-o vazio em CRED-PRES-01-CBS',
        '18: aliquota 100 não é um percentual que caiba na nota, onde REDUTOR-COMPRA-GOV vai de 0 a 99.99 com até duas casas decimais',
        '19: aliquota 1,125 não é um percentual que caiba na nota, onde CRED-PRES-02-IBS vai de 0 a 99.99 com até duas casas decimais',
        `20: tributo CRED-PRES-03-CBS não existe: use ${LINHAS}`,
      ],
    );
  });

  test('periods that overlap are refused: in the file, and with what the table has', async () => {
    assert.deepEqual(
      await refused(
        CBS_2027,
        'CBS,,,,2027-07-01,,9,fonte,ato',
        'IBS-UF,,,,2026-10-01,2026-11-30,1,fonte,ato',
        'IBS-UF,SP,,,2026-10-01,2026-11-30,1,fonte,ato',
        'CBS,,,,2027-01-01,2027-12-31,9,fonte,ato',
      ),
      [
        '3: o período se sobrepõe ao da linha 2',
        '4: o período se sobrepõe ao que já está na tabela, de 01/01/2026 até 31/12/2026, com 0.1 % (LC 214/2025, art. 343); se ele acaba antes, inclua no arquivo também a linha dele, com inicio 2026-01-01 e o fim que passa a ter',
        '6: repete a chave da linha 2 com outros dados',
      ],
    );
  });

  test('versions of the table follow each other', async (t) => {
    const own = await freshPool();
    await t.test(
      'an import makes a version, the same content again makes none, and what it replaced is kept',
      async () => {
        const first = await importar([CBS_2027, 'IBS-UF,SP,,,2029-01-01,,"1,5",fonte,Lei paulista'], own);
        assert.equal(first.code, 0, first.err);
        assert.match(first.out, /Tabela de alíquotas 2: novas 2, alteradas 0, iguais 0\./);
        assert.doesNotMatch(first.out, /já começaram/);
        const again = await importar([CBS_2027], own);
        assert.match(again.out, /Tabela de alíquotas 2: novas 0, alteradas 0, iguais 1\.\n.*a versão continua a mesma/);
        assert.equal(await versions(own), 2);

        const past = await importar(['CBS,,,,2026-01-01,2026-12-31,0.95,fonte,Outro ato'], own);
        assert.match(past.out, /Tabela de alíquotas 3: novas 0, alteradas 1, iguais 0\./);
        assert.match(
          past.out,
          /Linhas que mudam competências que já começaram: 1\. As notas já emitidas ficam como estão/,
        );

        const { out } = await run(['aliquotas', 'listar'], own);
        assert.match(out, /versão 3:\n/);
        assert.match(out, /CBS +todos +01\/01\/2026 a 31\/12\/2026 +0\.95 % +versão 3 +Outro ato \(fonte\)/);
        assert.match(out, /IBS-UF +SP +01\/01\/2029 em diante +1\.50 % +versão 2 +Lei paulista/);
        assert.match(out, /CBS +todos +cClassTrib 221001 +01\/01\/2026 a 31\/12\/2026 +3\.285 % +versão 1/);
        assert.match(out, /Substituídas.*:\n +CBS +todos +01\/01\/2026 a 31\/12\/2026 +0\.90 % +versões 1 a 2/);
        assert.match(out, / 3 {2}.*aliquotas\.csv, por .*: 0 novas, 1 alteradas; 1 de competências já começadas/);
        const json = JSON.parse((await run(['aliquotas', 'listar', '--json'], own)).out);
        assert.deepEqual(
          json.importacoes.map(({ versao, arquivo }: { versao: number; arquivo: string | null }) => [versao, arquivo]),
          [
            [1, null],
            [2, 'aliquotas.csv'],
            [3, 'aliquotas.csv'],
          ],
        );
      },
    );

    await t.test('a period is closed and another follows it in one file', async () => {
      const said = await importar(
        [
          'CBS,,,,2027-01-01,2027-06-30,"8,80",DOU de 30/12/2026,Resolução do Senado 1/2026',
          'CBS,,,,2027-07-01,,9.1,DOU,Resolução do Senado 2/2027',
        ],
        own,
      );
      assert.match(said.out, /novas 1, alteradas 1, iguais 0/, said.err);
      const { linhas } = await createStore(own).aliquotas.readTabela();
      const cbs = linhas.filter(({ tributo, cClassTrib }) => tributo === 'CBS' && cClassTrib === '');
      assert.deepEqual(
        cbs.map(({ inicio, fim, aliquota }) => [inicio, fim, Number(aliquota)]),
        [
          ['2026-01-01', '2026-12-31', 0.95],
          ['2027-01-01', '2027-06-30', 8.8],
          ['2027-07-01', undefined, 9.1],
        ],
      );
    });
  });

  test('all that a note may wait for can be brought in: a line of each is taken, and what stands on no note may be whole', async () => {
    const own = await freshPool();
    const lines = LINHAS_IBS_CBS.map((one) => {
      const whole = one === 'TRANSFERENCIA-CBS-GOV' ? '100' : '99.990';
      return `${one.toLowerCase().replaceAll('-', '_')},,,,2040-01-01,,${whole},fonte,ato`;
    });
    // An open-ended row of the table ends first.
    const ended = [
      'REDUTOR-COMPRA-GOV,,,,2026-01-01,2039-12-31,0,fonte,ato',
      'TRANSFERENCIA-CBS-GOV,,,,2033-01-01,2039-12-31,100,fonte,ato',
    ];
    const said = await importar([...ended, ...lines], own);
    assert.match(said.out, /Tabela de alíquotas 2: novas 9, alteradas 2, iguais 0\./, said.err);
    const { linhas } = await createStore(own).aliquotas.readTabela();
    const brought = linhas.filter(({ inicio }) => inicio === '2040-01-01').map(({ tributo }) => tributo);
    assert.deepEqual(brought.toSorted(), LINHAS_IBS_CBS.toSorted());
  });

  test('what a newer program ships besides is a version of its own, once, by whichever process starts first', async () => {
    const own = await freshPool();
    const before = tabelaEmbarcada().linhas.filter(({ tributo }) => tributo.endsWith('-GOV')).length;
    assert.equal(before, 7);
    await own.query("delete from aliquotas_ibs_cbs where tributo like '%-GOV'");
    assert.equal((await importar([CBS_2027], own)).code, 0);
    await Promise.all([migrate(own), migrate(own), migrate(own)]);
    assert.equal(await versions(own), 3);
    const { linhas, versao } = await createStore(own).aliquotas.readTabela();
    assert.deepEqual([versao, linhas.length], [3, tabelaEmbarcada().linhas.length + 1]);
    const { out } = await run(['aliquotas', 'listar'], own);
    assert.match(out, /REDUTOR-COMPRA-GOV +todos +01\/01\/2026 em diante +0\.00 % +versão 3 /);
    assert.match(out, / 3 {2}.*a que acompanha o programa: 7 novas, 0 alteradas\n/);
    // A row that was replaced or ended is not restored.
    await importar(['REDUTOR-COMPRA-GOV,,,,2026-01-01,2026-12-31,0,fonte,ato'], own);
    await migrate(own);
    assert.equal(await versions(own), 4);
  });

  test('the example is taken, and says what the shipped table says already', async () => {
    const own = await freshPool();
    const said = await run(['aliquotas', 'importar', path.join(ROOT, 'examples/aliquotas.csv')], own);
    assert.match(said.out, /Tabela de alíquotas 1: novas 0, alteradas 0, iguais 4\./, said.err);
  });

  test('two imports at once are two versions, one after the other', async () => {
    const own = await freshPool();
    const one = (aliquota: string, uf: string) => {
      const place = path.join(folder, `${uf}.csv`);
      writeFileSync(place, `${HEAD}\nIBS-UF,${uf},,,2029-01-01,,${aliquota},fonte,ato\n`);
      return run(['aliquotas', 'importar', place], own);
    };
    const said = await Promise.all([one('1', 'SP'), one('2', 'RJ'), one('3', 'MG'), one('4', 'BA')]);
    for (const { code, err } of said) assert.equal(code, 0, err);
    const { rows } = await own.query<{ versao: number }>('select versao from tabelas_aliquotas order by versao');
    assert.deepEqual(
      rows.map(({ versao }) => versao),
      [1, 2, 3, 4, 5],
    );
  });
});

describe('a note', () => {
  test('is judged by the table in force, says by which, and in the dry run too', async () => {
    const connection = await freshDatabase();
    const service = await startTestService({ worker: false, connection });
    const ship = await emit(service.address, exampleXml());
    assert.equal(ship.status, 201);
    const said = await importar(['CBS,,,,2026-01-01,2026-12-31,0.95,fonte,Outro ato'], service.pool);
    assert.equal(said.code, 0, said.err);
    const other = await startTestService({ worker: false, connection });
    const after = await emit(other.address, exampleXml());
    assert.match(ship.body.xml_nfse, /<pCBS>0\.90<\/pCBS>/);
    assert.match(after.body.xml_nfse, /<pCBS>0\.95<\/pCBS>/);
    for (const [{ body }, versao] of [
      [ship, 1],
      [after, 2],
    ] as const) {
      const shown = await run(['nota', 'mostrar', body.chave_acesso, '--municipio', 'integracao'], service.pool);
      assert.match(shown.out, new RegExp(`tabela_aliquotas +${versao}\\n`));
    }
    const dry = await request(other.address, '/integracao/api/v1/nfse/v101/validacao', {
      method: 'POST',
      headers: { 'Content-Type': 'application/xml' },
      body: exampleXml(),
    });
    assert.match(JSON.stringify(dry.body), /alíquota de CBS em 2026-10-05 \(Outro ato; tabela de alíquotas 2\)/);
  });
});

describe('before a competence without a rate', () => {
  test('the municipality and the log say so, from sixty days before', async () => {
    const own = await freshPool();
    const at = (day: string) =>
      avisosDeAliquotas({ store: createStore(own), now: () => Date.parse(`${day}T12:00:00-03:00`) });
    assert.deepEqual(await at('2026-11-01'), []);
    assert.match(
      (await at('2026-11-02')).join(),
      /^CBS sem alíquota na tabela desde a competência 01\/01\/2027: as notas/,
    );
    assert.equal((await importar([CBS_2027], own)).code, 0);
    assert.deepEqual(await at('2026-12-31'), []);
    assert.match((await at('2027-11-05')).join(), /^CBS sem alíquota na tabela desde a competência 01\/01\/2028/);

    assert.equal((await importar(['REDUTOR-COMPRA-GOV,,,,2026-01-01,2027-06-30,0,fonte,ato'], own)).code, 0);
    assert.deepEqual(await at('2027-07-01'), [
      'REDUTOR-COMPRA-GOV sem percentual na tabela desde a competência 01/07/2027: as notas de compras governamentais (tpEnteGov) são emitidas e ficam retidas, sem ir ao ADN, até o percentual ser importado (nfse aliquotas importar ARQUIVO).',
    ]);

    const service = await startTestService({ clock: { now: NOW }, worker: false });
    await run(['municipio', 'criar', 'alfa', '--ibge', '3550308', '--ambiente', 'homologacao'], service.pool);
    const shown = await run(['municipio', 'mostrar', 'alfa'], service.pool);
    assert.match(shown.out, /aviso +CBS sem alíquota na tabela desde a competência 01\/01\/2027/);
    const look = async (): Promise<number> => {
      service.logged.length = 0;
      for (const { work } of REPEATED) await work(service.world);
      return service.logged.filter(({ message }) => message.startsWith('CBS sem alíquota')).length;
    };
    assert.equal(await look(), 0, 'a newcomer has rehearsals alone');
    assert.equal((await run(['municipio', 'criar', 'beta', '--ibge', '3304557'], service.pool)).code, 0);
    assert.equal(await look(), 1);
  });
});
