/** `nfse prestador …`: the register of providers of a municipality, read and changed by hand and by file. */

import {
  askedWrongly,
  byHand,
  type CliWorld,
  type Command,
  inMunicipio,
  JSON_OPTION,
  type Options,
  refuseAsked,
  textOf,
  textsOf,
  type Values,
} from '../../base/terminal/command.ts';
import { jsonText, printable, quoteArgument, tableLines } from '../../base/terminal/text.ts';
import { maskDocumento, whyNoDocumento } from '../../fiscal/chave.ts';
import { brazilianDate } from '../../fiscal/moment.ts';
import { listRegisterColumns } from '../../fiscal/registers.ts';
import { type PeriodoEscrito, savePrestador } from './editar.ts';
import { IMPORT_OPTIONS, runImport, tellPrevia } from './importar.command.ts';
import { importSimples } from './importar-simples.ts';
import { type AcaoDePrestador, listPrestadores, operatePrestador, showPrestador } from './prestadores.ts';
import { columnsText, contasTold, registroCommands } from './registro.command.ts';

const MUNICIPIO = { municipio: { takes: 'SLUG', help: 'município do cadastro' } } as const;
const MOTIVO = { motivo: { takes: 'TEXTO', help: 'por quê; fica no histórico do prestador' } } as const;
const INSCRICAO = {
  inscricao: { takes: 'INSCRIÇÃO', help: 'só o estabelecimento com esta inscrição (sem ela: todos)' },
};
const CONFIRMAR = {
  confirmar: { help: 'faz também o que teria recusado ou mudado notas dos últimos 30 dias' },
} as const;
const WHICH = 'em que cadastro procurar';

/** The option of each column that a command may change by hand. */
const OPTION_OF = new Map(
  listRegisterColumns('prestadores').flatMap(([column, { option }]) =>
    option === undefined ? [] : [[column, { name: column.replaceAll('_', '-'), ...option }]],
  ),
);

/** Options for the data of an establishment, by the columns of its file. */
const SAID: Options = {
  ...Object.fromEntries([...OPTION_OF.values()].map(({ name, takes, help }) => [name, { takes, help }])),
  simples: {
    takes: 'PERÍODO',
    isRepeated: true,
    help: 'período do Simples Nacional, AAAA-MM-DD a AAAA-MM-DD ou AAAA-MM-DD em diante; tomam o lugar dos que há; "nenhum" os retira',
  },
};

export const PRESTADOR_COMMANDS: readonly Command[] = [
  {
    name: 'prestador listar',
    summary: 'Lista os prestadores, por documento, uma página de cada vez.',
    options: {
      ...MUNICIPIO,
      procurar: { takes: 'TEXTO', help: 'CNPJ, CPF, inscrição municipal, ou parte do nome' },
      bloqueados: { help: 'só os que não estão autorizados a emitir' },
      depois: { takes: 'LUGAR', help: 'continua de onde a página anterior parou' },
      ...JSON_OPTION,
    },
    run: listar,
  },
  {
    name: 'prestador mostrar',
    arguments: 'DOCUMENTO',
    summary: 'Mostra o que o cadastro tem de um CNPJ ou CPF.',
    options: { ...MUNICIPIO, ...JSON_OPTION },
    run: (world, values, [documento]) =>
      inMunicipio(world, values, WHICH, (slug) => mostrar(world, values, slug, documento!)),
  },
  {
    name: 'prestador cadastrar',
    arguments: 'DOCUMENTO',
    summary: 'Cadastra um prestador, autorizado a emitir.',
    options: { ...MUNICIPIO, ...SAID, ...MOTIVO },
    run: (world, values, [documento]) =>
      inMunicipio(world, values, WHICH, (slug) => salvar(world, values, slug, documento!, true)),
  },
  {
    name: 'prestador alterar',
    arguments: 'DOCUMENTO',
    summary: 'Altera o que o cadastro diz de um prestador; o que não é indicado fica.',
    options: { ...MUNICIPIO, ...SAID, ...MOTIVO, ...CONFIRMAR },
    run: (world, values, [documento]) =>
      inMunicipio(world, values, WHICH, (slug) => salvar(world, values, slug, documento!, false)),
  },
  operate(
    'bloquear',
    'Não deixa mais o prestador emitir: a DPS dele é respondida com E102. As notas emitidas ficam.',
    'bloqueado: em segundos, em todo processo do serviço, a DPS dele é respondida com E102',
  ),
  operate('desbloquear', 'Deixa o prestador emitir outra vez.', 'autorizado a emitir'),
  operate(
    'retirar',
    'Retira o prestador do cadastro: a DPS dele é respondida com E101. As notas emitidas ficam.',
    'retirado do cadastro',
  ),
  {
    name: 'prestador importar-simples',
    arguments: 'ARQUIVO',
    summary:
      'Traz o Simples Nacional dos prestadores do arquivo SIMPLES dos dados abertos do CNPJ, da Receita Federal, fora do ZIP.',
    options: { municipio: IMPORT_OPTIONS.municipio, previa: IMPORT_OPTIONS.previa, ...MOTIVO },
    notes: [
      ['Formato', 'sete colunas, sem cabeçalho: raiz do CNPJ, opção pelo Simples, início, exclusão, e o mesmo do MEI'],
      [
        'Períodos',
        'o arquivo tem a última opção: toma o lugar dos que não acabaram antes dela; quem não está nele fica',
      ],
    ],
    run: (world, values, [arquivo]) =>
      runImport(
        world,
        values,
        arquivo!,
        (registry, request) => importSimples(registry, { ...request, by: byHand(values) }),
        (contas, municipio) => (contas.length === 0 ? ['Nenhum período muda.'] : contasTold(contas, municipio)),
        (previa, municipio) => tellPrevia(world, contasTold(previa.counts, municipio), previa.mudancas),
      ),
  },
  ...registroCommands({
    nome: 'prestadores',
    comando: 'prestador',
    oQue: 'o cadastro de prestadores',
    resumo:
      'Importa o cadastro de prestadores, em CSV. O mesmo arquivo de novo não muda nada; quem não está nele fica como está.',
    notes: [
      ['Colunas', columnsText('prestadores')],
      ['Simples', 'de cada documento do arquivo valem os períodos do arquivo; para mais de um, repita a linha'],
      ['Faltando', 'uma coluna opcional que falta não muda nada de quem já está; quem é novo entra autorizado'],
    ],
    depois: 'Os prestadores que não estão no arquivo ficaram como estavam.',
  }),
];

function listar(world: CliWorld, values: Values): Promise<number> {
  return inMunicipio(world, values, WHICH, (slug) =>
    world.registry(async (registry) => {
      const texto = textOf(values, 'procurar');
      const autorizado = values['bloqueados'] === true ? false : undefined;
      const asked = { texto, autorizado };
      const { prestadores, seguinte } = await listPrestadores(registry, slug, asked, textOf(values, 'depois'));
      if (values['json'] === true) {
        world.out(jsonText({ prestadores, seguinte: seguinte ?? null }));
        return 0;
      }
      if (prestadores.length === 0) world.err('Nenhum prestador assim no cadastro.\n');
      else {
        const rows = prestadores.map((one) => [
          maskDocumento(one.documento),
          one.inscricao_municipal,
          one.autorizado ? 'autorizado' : 'bloqueado',
          printable(one.razao_social),
        ]);
        world.out(
          `${tableLines([['documento', 'inscrição', 'situação', 'nome'], ...rows], world.columns).join('\n')}\n`,
        );
      }
      if (seguinte !== undefined) {
        const search = texto === undefined ? '' : ` --procurar ${quoteArgument(texto)}`;
        const blocked = autorizado === undefined ? '' : ' --bloqueados';
        world.out(
          `Mais: nfse prestador listar --municipio ${slug}${search}${blocked} --depois ${quoteArgument(seguinte)}\n`,
        );
      }
      return 0;
    }),
  );
}

async function mostrar(world: CliWorld, values: Values, municipio: string, documento: string): Promise<number> {
  const problem = whyNoDocumento(documento);
  if (problem !== undefined) return askedWrongly(world, `O documento indicado ${problem}.\n`);
  return world.registry(async (registry) => {
    const prestadores = await showPrestador(registry, municipio, documento);
    if (prestadores.length === 0) return refuseAsked(world, `O documento não está no cadastro de ${municipio}.`);
    if (values['json'] === true) {
      world.out(jsonText(prestadores));
      return 0;
    }
    const [{ documento: bare, simples }] = prestadores as [(typeof prestadores)[number]];
    world.out(`${maskDocumento(bare)}\n`);
    for (const { inscricaoMunicipal, razaoSocial, autorizado, endereco } of prestadores) {
      world.out(
        `  inscrição ${inscricaoMunicipal ?? '(sem)'}: ${razaoSocial}, ${autorizado ? 'autorizado' : 'não autorizado'}\n`,
      );
      world.out(`    ${endereco.xLgr}, ${endereco.nro}, ${endereco.xBairro}, CEP ${endereco.CEP}\n`);
    }
    for (const { inicio, fim } of simples) {
      const end = fim === undefined ? 'em diante' : `a ${brazilianDate(fim)}`;
      world.out(`  Simples Nacional: ${brazilianDate(inicio)} ${end}\n`);
    }
    if (simples.length === 0) world.out('  Simples Nacional: nenhum período\n');
    return 0;
  });
}

function salvar(world: CliWorld, values: Values, slug: string, documento: string, isNew: boolean): Promise<number> {
  const periods = readPeriods(textsOf(values, 'simples'));
  if (typeof periods === 'string') return Promise.resolve(askedWrongly(world, periods));
  return world.registry(async (registry) => {
    const written = [...OPTION_OF].flatMap(([column, { name }]): [string, string][] => {
      const text = textOf(values, name);
      return text === undefined ? [] : [[column, text]];
    });
    const cells = { documento, inscricao_municipal: '', ...Object.fromEntries(written) };
    const asked = { isNew, confirmado: values['confirmar'] === true };
    const refused = await savePrestador(registry, slug, cells, periods, asked, byHand(values));
    if (refused?.perguntas !== undefined) return askToConfirm(world, refused.perguntas);
    if (refused !== undefined) {
      const lines = Object.entries(refused.problems).map(([column, problem]) => {
        const option = OPTION_OF.get(column);
        return column === ''
          ? problem
          : `${option === undefined ? column.toUpperCase() : `--${option.name}`}: ${problem}`;
      });
      return refuseAsked(world, `Nada foi gravado.\n${lines.join('\n')}`);
    }
    world.out(`Prestador ${isNew ? 'cadastrado' : 'alterado'}.\n`);
    return mostrar(world, {}, slug, documento);
  });
}

function askToConfirm(world: CliWorld, perguntas: readonly string[]): number {
  return refuseAsked(world, `Nada foi feito.\n${perguntas.join('\n')}\nSe é isto mesmo: --confirmar.`);
}

/** Undefined: no period is given, and those of the register stay. A sentence: one of them cannot be read. */
function readPeriods(texts: readonly string[]): readonly PeriodoEscrito[] | string | undefined {
  if (texts.length === 0) return undefined;
  if (texts.length === 1 && texts[0] === 'nenhum') return [];
  const periods: PeriodoEscrito[] = [];
  for (const text of texts) {
    const [, inicio, fim = ''] = /^(\S+)(?: a (\S+)| em diante)?$/.exec(text.trim()) ?? [];
    if (inicio === undefined) {
      return `--simples "${text}" não é um período; escreva "2024-01-01 a 2025-12-31", ou "2026-01-01 em diante".\n`;
    }
    periods.push({ inicio, fim });
  }
  return periods;
}

/** `done`: state of the provider after the act. */
function operate(acao: AcaoDePrestador, summary: string, done: string): Command {
  return {
    name: `prestador ${acao}`,
    arguments: 'DOCUMENTO',
    summary,
    options: { ...MUNICIPIO, ...INSCRICAO, ...MOTIVO, ...(acao === 'retirar' ? CONFIRMAR : {}) },
    run: (world, values, [documento]) =>
      inMunicipio(world, values, WHICH, (slug) =>
        world.registry(async (registry) => {
          const alvo = { documento: documento!, inscricao: textOf(values, 'inscricao') };
          const asked = { acao, confirmado: values['confirmar'] === true };
          const made = await operatePrestador(registry, slug, alvo, asked, byHand(values));
          if ('perguntas' in made) return askToConfirm(world, made.perguntas);
          if ('problem' in made) return refuseAsked(world, `Nada foi feito. ${made.problem}`);
          world.out(`${maskDocumento(documento!.replace(/\W/g, '').toUpperCase())} ${done}.\n`);
          return 0;
        }),
      ),
  };
}
