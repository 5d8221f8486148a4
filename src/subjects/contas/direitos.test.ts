/**
 * Conditional rights and limits, each requested by hundreds at once: the number that succeeds. `before` is the number from the time when a
 * check and its write were separate steps. The table is printed with the service's present numbers.
 */
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, describe, test } from 'node:test';
import { codeAt, makeUsuario, SENHA, startTestPainel } from '../../../test/support/painel.ts';
import { startTestService } from '../../../test/support/service.ts';
import { openBuckets } from '../../base/http/buckets.ts';
import { countMisses } from '../../base/http/misses.ts';
import { openTrabalhos } from '../../base/world/trabalhos.ts';
import { createWebhook, DO_MUNICIPIO, tryWebhook } from '../avisos/webhooks.ts';
import { importRegistro, undoImport } from '../cadastros/registros.ts';
import { createExportacao } from '../partes/exportacoes.ts';
import { createToken } from '../partes/tokens.ts';
import { changePassword, offerSecret, takeSecret } from './conta-propria.ts';
import { acceptConvite, inviteFirst, readConvite } from './convites.ts';
import { countAttempt, proveCode, readVisitor, signIn, type Visitor } from './entrada.ts';
import { criarUsuario, redefinirUsuario, retirarUsuario } from './usuarios.ts';

const BY = { quem: 'teste', via: 'comando' } as const;
const FROM = { rede: '192.0.2.1', navegador: 'teste' };
const AQUI = 'integracao';
const service = await startTestService({ worker: false });
const painel = await startTestPainel(service);
const { world } = painel;
const { store } = world;
const municipio = (await store.municipios.readFresh(AQUI))!;

const times = <Value>(count: number, one: (place: number) => Promise<Value>): Promise<Value[]> =>
  Promise.all(Array.from({ length: count }, (_, place) => one(place)));
const counted = (all: readonly boolean[]): number => all.filter(Boolean).length;
const bytes = (value: object): Buffer => Buffer.from(JSON.stringify(value));

/** Attempts to enter are counted by the minute. */
const forgetAttempts = () => service.pool.query('delete from contagens');

/** The number of attempts that pass, of as many at once; counters dated an hour ahead are not refilled with time. */
async function countAttempts(asked: number, one: (place: number) => readonly [string, string]): Promise<number> {
  await forgetAttempts();
  const isLet = async (place: number) => (await countAttempt(world, ...one(place))) === undefined;
  const first = await isLet(0);
  await service.pool.query('update contagens set em = em + 3600');
  return counted([first, ...(await times(asked - 1, (place) => isLet(place + 1)))]);
}

/** A person who has given a password, or all factors. */
async function visitorOf(login: string): Promise<Visitor> {
  await forgetAttempts();
  const entered = await signIn(world, { login, senha: SENHA }, FROM);
  assert.ok('token' in entered, JSON.stringify(entered));
  return (await readVisitor(world, entered.token))!;
}

/** A person whose account needs a second factor and has none yet. */
async function makeWithoutFactor(login: string): Promise<void> {
  await makeUsuario(painel, login, { [AQUI]: 'operacao' });
  await service.pool.query('update contas set totp = null where login = $1', [login]);
}

type Row = {
  readonly what: string;
  /** Requests at once. */
  readonly asked: number;
  readonly allowed: number;
  /** Successes before check and write became one statement. */
  readonly before: number;
  /** Returns the number of successes. */
  readonly run: (asked: number) => Promise<number>;
};

const RIGHTS: readonly Row[] = [
  {
    what: 'link do primeiro administrador, depois de outra conta',
    asked: 1,
    allowed: 0,
    before: 1,
    run: async () => {
      const own = await startTestPainel(await startTestService({ worker: false }));
      const link = (await inviteFirst(own.world))!;
      await makeUsuario(own, 'ana', { [AQUI]: 'administracao' });
      const asked = { login: 'mallory', nome: 'Mallory', senha: SENHA, repetida: SENHA };
      const accepted = await acceptConvite(own.world, link, asked);
      const logins = (await own.world.store.contas.list()).map(({ login }) => login);
      assert.deepEqual(logins, 'conta' in accepted ? ['ana', 'mallory'] : ['ana']);
      assert.equal(await inviteFirst(own.world), undefined);
      return 'conta' in accepted ? 1 : 0;
    },
  },
  {
    what: 'link do primeiro administrador, aberto por muitos: contas com a senha de um e o login de outro',
    asked: 100,
    allowed: 0,
    before: 1,
    run: async (asked) => {
      const own = await startTestPainel(await startTestService({ worker: false }));
      const link = (await inviteFirst(own.world))!;
      const done = await times(asked, async (place) => {
        const senha = `quatro cavalos bordam ${place} janelas`;
        const mine = { login: `pessoa${place}`, nome: `Pessoa ${place}`, senha, repetida: senha };
        return { mine, accepted: await acceptConvite(own.world, link, mine) };
      });
      const [winner, ...others] = done.filter(({ accepted }) => 'conta' in accepted);
      assert.equal(others.length, 0);
      const [conta] = await own.world.store.contas.list();
      const entered = await signIn(own.world, winner!.mine, FROM);
      return 'token' in entered && conta!.login === winner!.mine.login && conta!.nome === winner!.mine.nome ? 0 : 1;
    },
  },
  {
    what: 'convite de uma conta: vezes que serve',
    asked: 100,
    allowed: 1,
    before: 1,
    run: async (asked) => {
      const made = await criarUsuario(world, { login: 'convidada', nome: 'C', municipio: AQUI, papel: 'leitura' }, BY);
      assert.ok('convite' in made);
      const accepted = await times(asked, (place) => {
        const senha = `quatro cavalos bordam ${place} janelas`;
        return acceptConvite(world, made.convite!, { login: '', nome: `Pessoa ${place}`, senha, repetida: senha });
      });
      const nomes = accepted.flatMap((one) => ('conta' in one ? [one.conta.nome] : []));
      const { nome } = (await store.contas.findByLogin('convidada'))!;
      assert.deepEqual(nomes, [nome], 'the name is that of the one who got through');
      return nomes.length;
    },
  },
  {
    what: 'contas de um login: links que servem',
    asked: 200,
    allowed: 1,
    before: 1,
    run: async (asked) => {
      const one = { login: 'gemea', nome: 'G', municipio: AQUI, papel: 'leitura' } as const;
      const made = await times(asked, () => criarUsuario(world, one, BY));
      const links = made.flatMap((each) => ('convite' in each ? (each.convite ?? []) : []));
      const open = await Promise.all(links.map((link) => readConvite(world, link)));
      return counted(open.map((each) => each !== undefined));
    },
  },
  {
    what: 'códigos de uso único experimentados',
    asked: 400,
    allowed: 20,
    before: 399,
    run: async (asked) => {
      const { segredo } = await makeUsuario(painel, 'codigos', { [AQUI]: 'operacao' });
      const visitor = await visitorOf('codigos');
      const right = codeAt(segredo, world.now());
      const wrong = String((Number(right) + 1) % 1_000_000).padStart(6, '0');
      const tried = await times(asked, () => proveCode(world, visitor, wrong, FROM));
      const spent = await proveCode(world, visitor, right, FROM);
      assert.ok('problem' in spent && spent.problem.includes('já não entra por código'));
      return counted(tried.map((one) => 'problem' in one && one.problem.startsWith('O código não confere')));
    },
  },
  {
    what: 'segundo fator que se escolhe só com a senha: vezes que se escolhe',
    asked: 100,
    allowed: 1,
    before: 3,
    run: async (asked) => {
      await makeWithoutFactor('sem-fator');
      // Each has a session and a secret of its own, and gives a code of another time step.
      const sessions: (readonly [Visitor, string])[] = [];
      for (let place = 0; place < asked; place += 1) {
        const { token } = await visitorOf('sem-fator');
        const { segredo } = await offerSecret(world, (await readVisitor(world, token))!);
        sessions.push([(await readVisitor(world, token))!, segredo]);
      }
      const taken = await times(asked, (place) => {
        const [visitor, segredo] = sessions[place]!;
        return takeSecret(world, visitor, codeAt(segredo, world.now() + ((place % 3) - 1) * 30_000), FROM);
      });
      return counted(taken.map((one) => 'token' in one));
    },
  },
  {
    what: 'senhas experimentadas na entrada, de um endereço',
    asked: 400,
    allowed: 6,
    before: 6,
    run: async (asked) => {
      await forgetAttempts();
      await makeUsuario(painel, 'entrando', { [AQUI]: 'leitura' });
      const tried = await times(asked, () => signIn(world, { login: 'entrando', senha: 'nada disto serve' }, FROM));
      return counted(tried.map((one) => 'problem' in one && one.problem.startsWith('Login ou senha não conferem')));
    },
  },
  {
    what: 'senhas de um login, de uma rede IPv6 (/64)',
    asked: 100,
    allowed: 6,
    before: 60,
    run: (asked) => countAttempts(asked, (place) => ['ana', `2001:db8:1:2:${place.toString(16)}::1`]),
  },
  {
    what: 'senhas de um login, de um bloco IPv6 (/48)',
    asked: 100,
    allowed: 30,
    before: 60,
    run: (asked) => countAttempts(asked, (place) => ['ana', `2001:db8:1:${place.toString(16)}::1`]),
  },
  {
    what: 'senhas de muitos logins, de uma rede IPv6 (/64)',
    asked: 100,
    allowed: 30,
    before: 100,
    run: (asked) => countAttempts(asked, (place) => [`pessoa${place}`, `2001:db8:1:2:${place.toString(16)}::1`]),
  },
  {
    what: 'senhas de muitos logins, de um bloco IPv6 (/48)',
    asked: 600,
    allowed: 480,
    before: 600,
    run: (asked) => countAttempts(asked, (place) => [`pessoa${place}`, `2001:db8:1:${place.toString(16)}::1`]),
  },
  {
    what: 'senhas de um login, de um IPv4 escrito de duas maneiras',
    asked: 100,
    allowed: 6,
    before: 12,
    run: (asked) => countAttempts(asked, (place) => ['ana', `${place % 2 === 0 ? '' : '::ffff:'}192.0.2.9`]),
  },
  {
    what: 'vezes em que o dono do login não entra, de outra rede, porque uma tenta demais',
    asked: 100,
    allowed: 0,
    before: 1,
    run: async (asked) => {
      await countAttempts(asked, () => ['ana', '192.0.2.9']);
      return (await countAttempt(world, 'ana', '198.51.100.1')) === undefined ? 0 : 1;
    },
  },
  {
    what: 'senhas experimentadas em «Minha conta»',
    asked: 100,
    allowed: 6,
    before: 100,
    run: async (asked) => {
      await makeUsuario(painel, 'trocando', { [AQUI]: 'leitura' });
      const visitor = await visitorOf('trocando');
      await forgetAttempts();
      const wrong = {
        atual: 'nada disto serve',
        senha: 'outra frase bem comprida',
        repetida: 'outra frase bem comprida',
      };
      const tried = await times(asked, () => changePassword(world, visitor, wrong, FROM));
      return counted(tried.map((one) => one?.problems.atual === 'A senha atual não confere.'));
    },
  },
  {
    what: 'sessões que restam de quem entrava enquanto a conta era redefinida',
    asked: 60,
    allowed: 0,
    before: 60,
    run: async (asked) => {
      await makeUsuario(painel, 'redefinida', { [AQUI]: 'operacao' });
      await forgetAttempts();
      const from = (place: number) => ({ ...FROM, rede: `192.0.2.${place}` });
      const entering = times(asked, (place) => signIn(world, { login: 'redefinida', senha: SENHA }, from(place)));
      await redefinirUsuario(world, 'redefinida', { ...BY, motivo: 'teste' });
      await entering;
      const { rows } = await service.pool.query(
        `select count(*)::int as n from sessoes s join contas c on c.id = s.conta where c.login = 'redefinida' and s.encerrada_em is null`,
      );
      return rows[0].n;
    },
  },
  {
    what: 'administradores que se retiram uns aos outros: quantos saem, de 40',
    asked: 40,
    allowed: 39,
    before: 40,
    run: async (asked) => {
      const slug = 'vila-nova';
      await store.municipios.create({ tenant: slug, ambiente: 'homologacao', codigoIbge: '3550308' }, world.now());
      for (let place = 0; place < asked; place += 1)
        await makeUsuario(painel, `chefe${place}`, { [slug]: 'administracao' });
      const gone = await times(asked, (place) =>
        retirarUsuario(world, `chefe${place}`, slug, { ...BY, motivo: 'teste' }),
      );
      return counted(gone.map((one) => 'isDeleted' in one));
    },
  },
  {
    what: 'tokens de um documento',
    asked: 400,
    allowed: 50,
    before: 0,
    run: async (asked) => {
      const body = bytes({ documento: '11222333000181' });
      const shown = () => ({ kind: 'none', canShow: true }) as const;
      const given = await times(asked, () => createToken(world, municipio, { body, assinatura: undefined, shown }));
      const tokens = given.flatMap((one) => ('token' in one ? [one.id] : []));
      const inForce = (await store.tokens.list(AQUI, '11222333000181', world.now())).map(({ id }) => id);
      assert.deepEqual(tokens.toSorted(), inForce.toSorted(), 'what was answered is what is in force');
      return tokens.length;
    },
  },
  {
    what: 'endereços de aviso de um dono',
    asked: 200,
    allowed: 10,
    before: 0,
    run: async (asked) => {
      const body = bytes({ url: 'https://192.0.2.9/avisos' });
      const made = await times(asked, () => createWebhook(world, municipio, DO_MUNICIPIO, body));
      assert.equal(
        (await store.webhooks.list(AQUI, DO_MUNICIPIO)).length,
        counted(made.map((one) => 'webhook' in one)),
      );
      return counted(made.map((one) => 'webhook' in one));
    },
  },
  {
    what: 'ensaios de um endereço de aviso num minuto',
    asked: 400,
    allowed: 10,
    before: 400,
    run: async (asked) => {
      const made = await createWebhook(world, municipio, '52998224725', bytes({ url: 'https://192.0.2.9/ensaios' }));
      assert.ok('webhook' in made, JSON.stringify(made));
      const at = (place: number) => ({ ...world, now: () => world.now() + place });
      const tried = await times(asked, (place) => tryWebhook(at(place), municipio, made.webhook.id));
      return counted(tried.map((one) => one === undefined));
    },
  },
  {
    what: 'exportações de um documento em andamento',
    asked: 200,
    allowed: 1,
    before: 1,
    run: async (asked) => {
      const body = bytes({ formato: 'csv' });
      const begun = await times(asked, () => createExportacao(world, municipio, '11222333000181', body));
      return counted(begun.map((one) => 'id' in one));
    },
  },
  {
    what: 'trabalhos do console em andamento',
    asked: 200,
    allowed: 2,
    before: 200,
    run: async (asked) => {
      const trabalhos = openTrabalhos<undefined>(world, 'um trabalho de teste falhou');
      let running = 0;
      let most = 0;
      const stop = Promise.withResolvers<void>();
      const begun = await times(asked, async (place) => {
        const one = await trabalhos.begin(AQUI, `pessoa${place}`, undefined);
        if (one === undefined) return false;
        trabalhos.run(one, async () => {
          running += 1;
          most = Math.max(most, running);
          await stop.promise;
        });
        return true;
      });
      stop.resolve();
      await trabalhos.close();
      assert.equal(counted(begun), most);
      return most;
    },
  },
  {
    what: 'última importação desfeita: vezes',
    asked: 100,
    allowed: 1,
    before: 1,
    run: async (asked) => {
      const folder = await mkdtemp(path.join(tmpdir(), 'nfse-direitos-'));
      const arquivo = path.join(folder, 'servicos.csv');
      await writeFile(
        arquivo,
        'codigo;descricao;codigo_tributacao_nacional;cnae_codigo;aliquota;inicio;fim\n001;Consultoria;010101;;2,00;2026-01-01;\n',
      );
      const request = { municipio: AQUI, arquivo, nome: 'servicos.csv', erros: undefined, by: BY };
      await importRegistro(world, 'servicos', { ...request, onProgress: () => undefined });
      await rm(folder, { recursive: true });
      const undone = await times(asked, () => undoImport(world, 'servicos', AQUI, { ...BY, motivo: 'teste' }));
      return counted(undone.map((one) => 'linhas' in one));
    },
  },
  {
    what: 'ambientes de ensaio de um endereço de rede num dia',
    asked: 200,
    allowed: 20,
    before: 20,
    run: async (asked) => {
      const at = world.now();
      const max = { daRede: 20, desde: at - 86_400_000, todos: 2_000 };
      const one = { nome: undefined, rede: Buffer.alloc(32, 7), ate: at + 86_400_000, criadoEm: at };
      const made = await times(asked, (place) =>
        store.ensaios.create(AQUI, { ...one, tenant: `ensaio-t${place}`, chave: Buffer.alloc(32, place) }, max),
      );
      return counted(made.map((each) => each === 'made'));
    },
  },
  {
    what: 'perguntas por chaves que não há, respondidas a um endereço num minuto',
    asked: 400,
    allowed: 60,
    before: 60,
    run: async (asked) => {
      const misses = countMisses(() => 0, {
        misses: openBuckets(() => 0, 100),
        looks: openBuckets(() => 0, 100),
      });
      const told = await times(asked, () => misses.count('192.0.2.1', 1));
      return counted(told.map((wait) => wait === undefined));
    },
  },
];

describe('a right that a condition gives, and a limit, is kept by hundreds at once', () => {
  const lines: string[] = [];
  for (const { what, asked, allowed, before, run } of RIGHTS) {
    test(`${what}: ${allowed} of ${asked}`, async () => {
      const through = await run(asked);
      lines.push(`| ${what} | ${asked} | ${allowed} | ${before} | ${through} |`);
      assert.equal(through, allowed);
    });
  }
  after(() => {
    const head = ['| direito ou limite | de uma vez | cabem | antes | agora |', '| --- | --- | --- | --- | --- |'];
    console.log([...head, ...lines].join('\n'));
  });
});
