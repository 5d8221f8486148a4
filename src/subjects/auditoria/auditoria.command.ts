/** `nfse auditoria …` verifies the audit chain of a municipality and exports its seals. */

import {
  askedWrongly,
  byHand,
  type CliWorld,
  type Command,
  JSON_OPTION,
  refuseAsked,
  textOf,
  textsOf,
  type Values,
} from '../../base/terminal/command.ts';
import { jsonText, printable } from '../../base/terminal/text.ts';
import { groupDigits } from '../../fiscal/group-digits.ts';
import {
  type Andamento,
  aceitarAchados,
  type ContaDaCorrente,
  conferirAuditoria,
  describeAchado,
  exportarSelos,
} from './auditoria.ts';

export const AUDITORIA_COMMANDS: readonly Command[] = [
  {
    name: 'auditoria verificar',
    arguments: 'SLUG',
    summary:
      'Confere a corrente de auditoria de um município com tudo o que está no banco, e diz o que foi mudado por fora.',
    options: {
      selo: {
        takes: 'ARQUIVO',
        help: 'um selo guardado fora do banco, por que a corrente tem de passar (o .json; o .p7s fica ao lado)',
        isRepeated: true,
      },
      ...JSON_OPTION,
    },
    run: (world, values, [slug]) => verificar(world, values, slug!),
  },
  {
    name: 'auditoria aceitar',
    arguments: 'SLUG ACHADO [ACHADO …]',
    summary:
      'Aceita achados que se esclareceram, pelo código que verificar diz; a corrente o conta, e verificar os diz sempre.',
    options: {
      motivo: { takes: 'TEXTO', help: 'por quê (obrigatório): o processo, a ordem, a razão; fica no histórico' },
    },
    run: (world, values, [slug, ...ids]) => aceitar(world, values, slug!, ids),
  },
  {
    name: 'auditoria selos',
    arguments: 'SLUG PASTA',
    summary: 'Escreve numa pasta os selos diários de um município, cada um com o seu texto e a sua assinatura.',
    run: (world, _values, [slug, pasta]) => selos(world, slug!, pasta!),
  },
];

/** Shortest interval between two updates of the progress line. */
const TELL_EVERY_MS = 250;

/** Shows a line of progress, which is wiped at the end. */
async function showing<Result>(world: CliWorld, work: (tell: Andamento) => Promise<Result>): Promise<Result> {
  let toldAt = 0;
  const done = await work((what, passed, all) => {
    if (!world.isTerminal || performance.now() - toldAt < TELL_EVERY_MS) return;
    toldAt = performance.now();
    world.err(`\r\x1b[K${groupDigits(passed)}${all === undefined ? '' : ` de ${groupDigits(all)}`} ${what}`);
  });
  if (toldAt > 0) world.err('\r\x1b[K');
  return done;
}

function aceitar(world: CliWorld, values: Values, slug: string, ids: readonly string[]): Promise<number> {
  if (textOf(values, 'motivo') === undefined) {
    return Promise.resolve(askedWrongly(world, 'Falta --motivo TEXTO: diga por quê.\n'));
  }
  return world.registry(async (registry) => {
    const done = await showing(world, (tell) => aceitarAchados(registry, slug, ids, byHand(values), tell));
    if ('problem' in done) return refuseAsked(world, done.problem);
    for (const achado of done.aceitos) world.out(`aceito: ${printable(describeAchado(achado))}\n`);
    return 0;
  });
}

/** 75 is `EX_TEMPFAIL`: the same command finds more later, or once the missing part is given. */
const EXITS = { confere: 0, nao_confere: 1, ainda_nao: 75 } as const satisfies Readonly<
  Record<ContaDaCorrente['situacao'], number>
>;

function verificar(world: CliWorld, values: Values, slug: string): Promise<number> {
  return world.registry(async (registry) => {
    const done = await showing(world, (tell) => conferirAuditoria(registry, slug, textsOf(values, 'selo'), tell));
    if ('problem' in done) return refuseAsked(world, done.problem);
    world.out(values['json'] === true ? jsonText(done) : describeConta(done));
    return EXITS[done.situacao];
  });
}

function describeConta(conta: ContaDaCorrente): string {
  const { achados, aceitos, total, selos, guardados, ainda_nao, fim, arquivos, situacao } = conta;
  const lines = achados.map((achado) => `${describeAchado(achado)} [${achado.id}]`);
  if (total > achados.length) lines.push(`… e mais ${groupDigits(total - achados.length)}`);
  for (const one of aceitos) {
    const { em, quem, motivo } = one.aceite;
    lines.push(`${describeAchado(one)} [${one.id}], aceito por ${quem} em ${em.slice(0, 19)}Z: ${motivo}`);
  }
  for (const { dia, lugar, problema } of selos)
    if (problema !== null) lines.push(`selo de ${dia} (entrada ${lugar}): ${problema}`);
  for (const { selo, problema } of guardados) lines.push(`${selo}: ${problema ?? 'a corrente passa por ele'}`);
  for (const { nome, problema } of arquivos) {
    if (problema !== null) lines.push(`${nome} ${problema}: as linhas dele não foram conferidas`);
  }
  lines.push(...ainda_nao.map((one) => `ainda não: ${one}`));
  const last = selos.at(-1);
  lines.push(
    last === undefined
      ? 'nenhum dia foi selado: o município não tem certificado, ou o primeiro dia não acabou'
      : `último selo: ${last.dia}`,
    describeRead(conta),
    describeChave(conta.chave),
  );
  if (fim !== undefined) lines.push(`fim da corrente: entrada ${fim.lugar}, ${fim.elo}`);
  lines.push(
    situacao === 'confere'
      ? aceitos.length === 0
        ? 'Confere: nada foi mudado, apagado ou acrescentado por fora.'
        : `Confere, fora ${groupDigits(aceitos.length)} ${aceitos.length === 1 ? 'achado aceito, dito' : 'achados aceitos, ditos'} acima.`
      : situacao === 'ainda_nao'
        ? 'Ainda não se pode dizer: o que se leu confere, e o que falta está dito acima. Dê o mesmo comando de novo depois.'
        : 'Não confere. Guarde o banco como está, compare com uma cópia de antes do momento que a entrada diz, e procure quem tinha acesso. O que se esclareceu se aceita, com o código entre colchetes: nfse auditoria aceitar.',
  );
  return lines.map((line) => `${printable(line)}\n`).join('');
}

function describeRead({ entradas, semLugar, linhas, noArquivo, arquivos }: ContaDaCorrente): string {
  const inFiles = arquivos.reduce((sum, one) => sum + one.linhas, 0);
  const parts = [
    `${groupDigits(entradas)} entradas (${groupDigits(semLugar)} ainda sem lugar)`,
    `${groupDigits(linhas)} linhas do banco`,
    ...(arquivos.length === 0 ? [] : [`${groupDigits(inFiles)} em ${groupDigits(arquivos.length)} arquivos`]),
    ...(noArquivo === 0 ? [] : [`${groupDigits(noArquivo)} em arquivos que não se leram`]),
  ];
  return parts.join(', ');
}

function describeChave({ conhecidas, autenticas, antes, outras }: ContaDaCorrente['chave']): string {
  if (conhecidas === 0 && outras.length === 0) {
    return 'sem chave: quem escreve no banco escreve também entradas; de que não o fez, só um selo guardado fora é prova';
  }
  const before = antes === 0 ? '' : `; ${groupDigits(antes)} de antes dela, de que só um selo guardado fora é prova`;
  return `${groupDigits(autenticas)} entradas autenticadas pela chave${before}`;
}

function selos(world: CliWorld, slug: string, pasta: string): Promise<number> {
  return world.registry(async (registry) => {
    const done = await exportarSelos(registry, slug, pasta);
    if ('problem' in done) return refuseAsked(world, done.problem);
    world.out(
      done.selos === 0
        ? `${slug} não tem selos: nenhum dia foi selado ainda.\n`
        : `${groupDigits(done.selos)} ${done.selos === 1 ? 'selo' : 'selos'} em ${printable(pasta)}. Confere-se um sem este programa: openssl cms -verify -binary -inform DER -purpose any -in SELO.p7s -content SELO.json -CAfile CADEIA.pem\n`,
    );
    return 0;
  });
}
