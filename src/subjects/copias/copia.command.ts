/** `nfse copia …`: copies of the whole database, made while it serves, listed, verified, and restored. */
import path from 'node:path';
import {
  askedWrongly,
  type CliWorld,
  type Command,
  JSON_OPTION,
  nameOperator,
  refuseAsked,
  type Terminal,
  textOf,
  type Values,
} from '../../base/terminal/command.ts';
import { columns, jsonText, printable, tableLines } from '../../base/terminal/text.ts';
import { formatSeconds, groupDigits, sizeText } from '../../fiscal/group-digits.ts';
import { type AlemDoBanco, perguntarAlem } from './alem.ts';
import { type Apagadas, fazerCopia, listarCopias } from './operate.ts';
import { type Conferida, conferirCopia, DEFAULT_FOLGA, type Restaurada, restaurarCopia } from './voltar.ts';
import { type Conta, CopiaRecusada, type CopiasWorld } from './world.ts';

const CHAVE = { chave: { takes: 'ARQUIVO', help: 'chave secreta do age, que abre cópias cifradas' } } as const;

export const COPIA_COMMANDS: readonly Command[] = [
  {
    name: 'copia fazer',
    summary: 'Copia o banco inteiro para NFSE_COPIAS, com o serviço no ar.',
    options: {
      rotulo: { takes: 'TEXTO', help: 'o que a cópia diz de si' },
      manter: {
        takes: 'DIAS',
        help: 'depois, apaga as cópias e o WAL de que não precisa quem volta a um momento dos últimos DIAS',
      },
    },
    run: fazer,
  },
  {
    name: 'copia listar',
    summary: 'Lista as cópias, e até quando vai a contínua.',
    options: JSON_OPTION,
    run: listar,
  },
  {
    name: 'copia conferir',
    arguments: '[CÓPIA]',
    summary: 'Põe a cópia (a última, sem nome) a rodar à parte, recupera-a, confere-a inteira e a joga fora.',
    options: CHAVE,
    run: (world, values, [nome]) => conferir(world, values, nome),
  },
  {
    name: 'copia restaurar',
    arguments: '[CÓPIA]',
    summary: 'Volta ao fim do que foi arquivado, ou a um momento; o serviço tem de estar parado.',
    options: {
      ate: { takes: 'MOMENTO', help: 'como 2026-11-28T10:30:00-03:00; sem fuso é a hora de Brasília' },
      ...CHAVE,
      'guardar-atual': { help: 'põe de lado o banco que está no lugar; sem ela nada se restaura por cima dele' },
      para: { takes: 'PASTA', help: 'pasta do banco restaurado, para um PostgreSQL seu' },
      folga: { takes: 'N', help: 'números que cada prestador salta além do que o ADN conhece (padrão: 1000)' },
    },
    run: (world, values, [nome]) => restaurar(world, values, nome),
  },
  {
    name: 'copia perguntar',
    arguments: '[SLUG]',
    summary: 'Pergunta ao ADN o que ele tem além deste banco, se ao restaurar ele não pôde ser perguntado.',
    options: JSON_OPTION,
    run: (world, values, [slug]) => perguntar(world, values, slug),
  },
];

/** The work was done, but a part of its result is unknown: a script should alert its operator. */
const NOT_KNOWN = 3;

const PERCENT = 100;
const BAR = 30;
const LINE_EVERY_MS = 5_000;

/** A bar on a terminal; elsewhere a line every few seconds. */
function contaOn(terminal: Terminal): Conta & { end(): void } {
  let [told, drawn] = [performance.now(), ''];
  const wipe = (): void => {
    if (drawn !== '') terminal.err(`\r${' '.repeat(drawn.length)}\r`);
    drawn = '';
  };
  return {
    show: (part, what) => {
      const percent = `${Math.floor(part * PERCENT)} %`;
      if (!terminal.isTerminal) {
        if (performance.now() - told < LINE_EVERY_MS) return;
        told = performance.now();
        terminal.out(`  ${what}: ${percent}\n`);
        return;
      }
      const filled = Math.round(part * BAR);
      const line = `[${'#'.repeat(filled)}${'.'.repeat(BAR - filled)}] ${percent.padStart(5)} ${what}`.slice(
        0,
        (terminal.columns ?? 80) - 1,
      );
      if (line === drawn) return;
      wipe();
      terminal.err(line);
      drawn = line;
    },
    tell: (line) => {
      wipe();
      terminal.out(`${printable(line)}\n`);
    },
    end: wipe,
  };
}

/** A refusal is printed, and is no failure of the program. */
async function run(world: CliWorld, work: (copias: CopiasWorld, conta: Conta) => Promise<number>): Promise<number> {
  const conta = contaOn(world);
  try {
    return await world.copias((copias) => work(copias, conta)).finally(conta.end);
  } catch (error) {
    if (error instanceof CopiaRecusada) return refuseAsked(world, printable(error.message));
    throw error;
  }
}

function countOf(values: Values, name: string, least: number): number | undefined | { readonly problem: string } {
  const text = textOf(values, name);
  if (text === undefined) return undefined;
  if (/^\d{1,7}$/.test(text) && Number(text) >= least) return Number(text);
  return { problem: `--${name} ${text} não serve: dê um número, de ${least} em diante.\n` };
}

async function fazer(world: CliWorld, values: Values): Promise<number> {
  const manter = countOf(values, 'manter', 1);
  if (typeof manter === 'object') return askedWrongly(world, manter.problem);
  return run(world, async (copias, conta) => {
    const { copia, ms, apagadas, avisos } = await fazerCopia(
      copias,
      { rotulo: textOf(values, 'rotulo'), manter },
      conta,
    );
    const { id, bytes, arquivos, cifrada } = copia.manifesto;
    const stored = arquivos.reduce((sum, one) => sum + one.bytes, 0);
    conta.tell(
      `Cópia ${id}: ${sizeText(bytes)}, em ${sizeText(stored)}${cifrada ? ', cifrada' : ''}, em ${formatSeconds(ms)}. Está em ${copia.pasta}.`,
    );
    if (apagadas !== undefined) tellApagadas(apagadas, conta);
    for (const aviso of avisos) conta.tell(`AVISO  ${aviso}`);
    return 0;
  });
}

const counted = (count: number, name: string): string => `${groupDigits(count)} ${name}${count === 1 ? '' : 's'}`;

const segmentosText = (count: number): string => `${counted(count, 'segmento')} do WAL`;

function tellApagadas({ copias, segmentos, bytes, desde }: Apagadas, { tell }: Conta): void {
  for (const id of copias) tell(`Apagada a cópia ${id}.`);
  if (bytes > 0) {
    tell(
      `Apagado o que não se guarda mais: ${counted(copias.length, 'cópia')} e ${segmentosText(segmentos)}, ${sizeText(bytes)}.`,
    );
  }
  tell(`Volta-se a ${desde.slice(0, 19)}Z ou depois.`);
}

function listar(world: CliWorld, values: Values): Promise<number> {
  return run(world, async (copias, conta) => {
    const isJson = values['json'] === true;
    // The output for programs contains nothing else.
    const show = isJson ? () => undefined : conta.show;
    const { copias: all, problemas, arquivamentos } = await listarCopias(copias, { ...conta, show });
    if (isJson) {
      world.out(jsonText({ copias: all, problemas, arquivamentos }));
      return problemas.length === 0 ? 0 : 1;
    }
    if (all.length === 0) conta.tell('Nenhuma cópia. nfse copia fazer faz uma.');
    const rows = all.map(({ id, concluida, bytes, cifrada, versao, rotulo, sistema }) => [
      id,
      `volta a ${concluida.slice(0, 19)}Z ou depois`,
      sizeText(bytes),
      cifrada ? 'cifrada' : '',
      `PostgreSQL ${versao.split(' ')[0]}`,
      `banco ${sistema}`,
      rotulo ?? '',
    ]);
    for (const line of tableLines(rows, world.columns)) conta.tell(line);
    for (const { sistema, em, segmento } of arquivamentos) {
      conta.tell(`Cópia contínua do banco ${sistema}: até ${em.slice(0, 19)}Z (${segmento}).`);
    }
    for (const problema of problemas) conta.tell(`PROBLEMA  ${problema}`);
    return problemas.length === 0 ? 0 : 1;
  });
}

function conferir(world: CliWorld, values: Values, nome: string | undefined): Promise<number> {
  return run(world, async (copias, conta) => {
    const done = await conferirCopia(copias, { copia: nome, chave: textOf(values, 'chave') }, conta);
    tellJudged(done, conta);
    const { copia, juizo, ms } = done;
    const isGood = juizo.problemas.length === 0;
    conta.tell(
      isGood
        ? `A cópia ${copia.manifesto.id} volta inteira: ${formatSeconds(ms)}.`
        : `A cópia ${copia.manifesto.id} tem problemas. Confira o banco (a mesma falha pode estar nele), e faça outra.`,
    );
    if (!isGood) return 1;
    return done.isPropria ? 0 : NOT_KNOWN;
  });
}

function tellJudged(
  { caminho, juizo, ultima }: Pick<Conferida, 'caminho' | 'juizo' | 'ultima'>,
  { tell }: Conta,
): void {
  const { segmentos } = caminho;
  const log = segmentos.length === 0 ? 'sem WAL arquivado' : segmentosText(segmentos.length);
  tell(`Recuperada, ${log}${ultima === undefined ? '' : `; última transação: ${ultima}`}.`);
  for (const line of columns(juizo.contado.map(([name, count]) => [name, groupDigits(count)]))) tell(line);
  for (const problema of juizo.problemas) tell(`PROBLEMA  ${problema}`);
}

/** Brasília has had one offset since 2019. */
const BRASILIA = '-03:00';
const MOMENT =
  /^(?:(\d{4})-(\d\d)-(\d\d)|(\d\d)\/(\d\d)\/(\d{4}))(?:[T ](\d\d):(\d\d)(?::(\d\d(?:\.\d{1,3})?))?)(Z|[+-]\d\d:?\d\d)?$/;

function readMoment(text: string): Date | undefined {
  const [, y1, m1, d1, d2, m2, y2, hour, minute, second = '00', zone = BRASILIA] = MOMENT.exec(text) ?? [];
  if (hour === undefined) return undefined;
  const [year, month, day] = [y1 ?? y2, m1 ?? m2, d1 ?? d2];
  const offset = zone === 'Z' || zone.includes(':') ? zone : `${zone.slice(0, 3)}:${zone.slice(3)}`;
  const moment = new Date(`${year}-${month}-${day}T${hour}:${minute}:${second}${offset}`);
  // A day that is not in its month would be one of the next.
  const isThere = new Date(`${year}-${month}-${day}T00:00:00Z`).getUTCDate() === Number(day);
  return Number.isNaN(moment.getTime()) || !isThere ? undefined : moment;
}

async function restaurar(world: CliWorld, values: Values, nome: string | undefined): Promise<number> {
  const ate = textOf(values, 'ate');
  const momento = ate === undefined ? undefined : readMoment(ate);
  if (ate !== undefined && momento === undefined) {
    return askedWrongly(
      world,
      `--ate ${ate} não é um momento: escreva-o como 2026-11-28T10:30:00-03:00, ou 28/11/2026 10:30 (hora de Brasília).\n`,
    );
  }
  const folga = countOf(values, 'folga', 0);
  if (typeof folga === 'object') return askedWrongly(world, folga.problem);
  const para = textOf(values, 'para');
  return run(world, async (copias, conta) => {
    const done = await restaurarCopia(
      copias,
      {
        copia: nome,
        chave: textOf(values, 'chave'),
        momento,
        isAside: values['guardar-atual'] === true,
        para: para === undefined ? undefined : path.resolve(para),
        folga: folga === undefined ? undefined : BigInt(folga),
        quem: nameOperator(),
      },
      conta,
    );
    tellJudged(done, conta);
    tellRestored(done, para !== undefined, conta);
    if (done.juizo.problemas.length > 0) return 1;
    return !done.isPropria || done.alem.some(({ problem }) => problem !== undefined) ? NOT_KNOWN : 0;
  });
}

function perguntar(world: CliWorld, values: Values, municipio: string | undefined): Promise<number> {
  return run(world, async (copias, conta) => {
    const found = await perguntarAlem(copias, { municipio, folga: DEFAULT_FOLGA, quem: nameOperator() });
    const isAsked = found.every(({ problem }) => problem === undefined);
    if (values['json'] === true) {
      world.out(jsonText(found.map(({ ultimos: _, ...one }) => one)));
      return isAsked ? 0 : 1;
    }
    if (found.length === 0) conta.tell('Nenhum município daqui transmite ao ADN.');
    for (const one of found) {
      tellAlem(one, conta.tell);
      if (one.prestadores > 0) {
        conta.tell(
          `${one.tenant}: adiantada a numeração de ${groupDigits(one.prestadores)} prestadores além do que o ADN conhece. Está no histórico.`,
        );
      }
    }
    return isAsked ? 0 : 1;
  });
}

/** Notes and events that are listed one by one. */
const KEYS_TOLD = 20;

function tellRestored(done: Restaurada, isElsewhere: boolean, { tell }: Conta): void {
  const { copia, location, guardado, alem, fechados, prestadores, folga, juizo, ms } = done;
  for (const one of alem) tellAlem(one, tell);
  tell(
    `Adiantada a numeração de ${groupDigits(prestadores)} ${prestadores === 1 ? 'prestador' : 'prestadores'} em ${folga} números, além do que o ADN conhece: o que se emitiu depois do momento não se repete. Está no histórico.`,
  );
  const waiting = Object.entries(juizo.fila).map(([tipo, quantos]) => `${groupDigits(quantos)} (${tipo})`);
  if (waiting.length > 0) {
    tell(
      `À espera do ADN: ${waiting.join(', ')}. O serviço os envia quando o município abrir; o que já fora anunciado ele antes pergunta.`,
    );
  }
  tell(`Restaurado em ${location}, da cópia ${copia.manifesto.id}, em ${formatSeconds(ms)}.`);
  if (guardado !== undefined)
    tell(`O banco de antes está inteiro em ${guardado}. Apague-o quando não precisar mais dele.`);
  if (fechados.length > 0) {
    tell(
      `Fechados, até que você confira: ${fechados.join(', ')}. Só respondem consultas. Para abrir cada um: nfse municipio alterar SLUG --sem-fechar`,
    );
  }
  tell(isElsewhere ? ELSEWHERE : 'Inicie o serviço, e faça logo uma cópia nova: nfse copia fazer');
}

const ELSEWHERE =
  'Sirva essa pasta com o seu PostgreSQL da mesma versão (no Debian os arquivos de configuração ficam fora dela), ligue nele o arquivamento, aponte DATABASE_URL, e faça logo uma cópia nova: nfse copia fazer';

function tellAlem({ tenant, chaves, eventos, outros, problem }: AlemDoBanco, tell: (line: string) => void): void {
  if (problem !== undefined) {
    tell(
      `PROBLEMA  ${tenant}: o ADN não pôde ser perguntado (${problem}). Não se sabe o que ele tem além deste banco. Antes de abrir o município, veja com nfse municipio testar-adn ${tenant} o que falta, e pergunte de novo: nfse copia perguntar ${tenant}`,
    );
    return;
  }
  if (chaves.length === 0 && eventos.length === 0) {
    tell(`${tenant}: o ADN não tem nota nem evento além dos deste banco.`);
  }
  if (chaves.length > 0) {
    tell(
      `${tenant}: o ADN tem ${groupDigits(chaves.length)} notas que este banco perdeu. Elas valem: peça-as aos prestadores ou baixe-as do ADN, e não as emita de novo.`,
    );
    tellSome(chaves, tell);
  }
  if (eventos.length > 0) {
    tell(
      `${tenant}: o ADN tem ${groupDigits(eventos.length)} eventos que este banco perdeu (nota, tipo, número, quando). Eles valem: uma nota que um deles cancela está cancelada, também se aqui ainda não está. Não os registre de novo, que o ADN não os recebe duas vezes; avise as partes, e guarde-os com as notas.`,
    );
    const each = eventos.map(({ chave_acesso, codigo, numero_sequencial, em }) =>
      [chave_acesso, codigo, numero_sequencial, em ?? ''].join('  ').trimEnd(),
    );
    tellSome(each, tell);
  }
  if (outros > 0)
    tell(`${tenant}: o ADN recebeu ainda ${groupDigits(outros)} documentos que não são notas nem eventos.`);
}

function tellSome(lines: readonly string[], tell: (line: string) => void): void {
  for (const line of lines.slice(0, KEYS_TOLD)) tell(`    ${line}`);
  if (lines.length > KEYS_TOLD)
    tell(`    e ${groupDigits(lines.length - KEYS_TOLD)} mais; todos: nfse copia perguntar --json`);
}
