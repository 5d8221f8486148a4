/** `nfse evento …`: the municipality registers events by office, reads events, and moves one by hand. */

import {
  askedWrongly,
  type CliWorld,
  type Command,
  inMunicipio,
  JSON_OPTION,
  nameOperator,
  refuseAsked,
  type Terminal,
  textOf,
  type Values,
} from '../../base/terminal/command.ts';
import { columns, eventoLines, faultLines, jsonText, printable, trailRows } from '../../base/terminal/text.ts';
import { EVENTO_PROBLEMAS } from '../../fiscal/evento.ts';
import { groupDigits } from '../../fiscal/group-digits.ts';
import { CORPO_OPTIONS, corpoOf, faultsOfOptions, tiposHelp } from './corpo.command.ts';
import { ENVIAR } from './enviar.command.ts';
import { registrarDeOficio } from './office.ts';
import {
  calledEvento,
  type EventoInteiro,
  eventoXml,
  listEventos,
  type Movido,
  type Operacao,
  operateEvento,
  showEvento,
} from './operate.ts';
import { arquivarEventos, type FiltroDeProblemas, listEventosComProblema, type Problemas } from './problem.ts';
import type { EventoPublico } from './queries.ts';
import { eventosTable, problemasTable } from './tables.command.ts';

const MUNICIPIO = { municipio: { takes: 'SLUG', help: 'município do evento' } } as const;
const JSON_WHOLE = { json: { help: 'os objetos inteiros, em JSON' } } as const;

/** Options that filter the events of a list. */
const FILTRO = {
  nota: { takes: 'CHAVE', help: 'só os de uma nota, um a um' },
  codigo: { takes: 'CÓDIGO', help: 'só os que o ADN respondeu com este código' },
  'entre-partes': {
    help: 'em vez da lista, as recusas por força de outro evento das partes (como E0840, E0861 e E1833), que são assunto delas',
  },
} as const;

export const EVENTO_COMMANDS: readonly Command[] = [
  ENVIAR,
  {
    name: 'evento registrar',
    arguments: 'CHAVE',
    summary: 'Registra de ofício um evento do município na nota de uma chave de acesso.',
    options: {
      ...MUNICIPIO,
      ...CORPO_OPTIONS,
      cnpj: { takes: 'CNPJ', help: 'CNPJ do município, o autor do evento (padrão: o do seu certificado)' },
    },
    moreHelp: () => tiposHelp(({ porOficio }) => porOficio),
    run: registrar,
  },
  {
    name: 'evento listar',
    arguments: 'CHAVE',
    summary: 'Lista os eventos de uma nota, do mais novo ao mais antigo.',
    options: { ...MUNICIPIO, ...JSON_WHOLE },
    run: (world, values, [chave]) => ofMunicipio(world, values, (slug) => listar(world, slug, chave!, values)),
  },
  {
    name: 'evento problemas',
    summary:
      'Lista os eventos que pedem a atenção do município: os de acao_sugerida consultar_suporte, sem as recusas arquivadas.',
    options: {
      ...MUNICIPIO,
      estado: { takes: 'ESTADO', help: `só os deste estado: ${EVENTO_PROBLEMAS.join(', ')}` },
      ...FILTRO,
      pagina: { takes: 'N', help: 'a página N da lista (padrão 1)' },
      ...JSON_WHOLE,
    },
    run: (world, values) => ofMunicipio(world, values, (slug) => listarProblemas(world, slug, values)),
  },
  {
    name: 'evento mostrar',
    arguments: 'ID',
    summary: 'Mostra um evento com tudo o que lhe aconteceu; ID é o seu id_evento.',
    options: { ...MUNICIPIO, xml: { help: 'só o documento do evento, como é transmitido' }, ...JSON_OPTION },
    run: (world, values, [id]) => ofMunicipio(world, values, (slug) => mostrar(world, slug, id!, values)),
  },
  defineOperation('reprocessar', 'Envia de novo um evento que falhou, depois de perguntar ao ADN se já o tem.'),
  defineOperation('separar', 'Separa para análise um evento em erro: ele não é mais enviado sozinho.'),
  defineOperation('cancelar', 'Retira um evento que ainda não foi enviado ao ADN.'),
  defineOperation('dispensar', 'Dispensa um evento do envio ao ADN, em definitivo.'),
  {
    name: 'evento arquivar',
    arguments: '[ID …]',
    summary: 'Dá por vistas as recusas de eventos: elas saem de "evento problemas", e mais nada muda.',
    options: {
      ...MUNICIPIO,
      ...FILTRO,
      confirmar: {
        takes: 'N',
        help: 'em vez dos ID: arquiva todas as recusas do filtro, se são N; sem ela o comando diz quantas são',
      },
      motivo: { takes: 'TEXTO', help: 'por quê; fica no histórico' },
    },
    run: (world, values, ids) =>
      ofMunicipio(world, values, (slug) =>
        ids.length > 0 ? arquivarCada(world, slug, values, ids) : arquivarPorFiltro(world, slug, values),
      ),
  },
];

function ofMunicipio(world: CliWorld, values: Values, run: (slug: string) => Promise<number>): Promise<number> {
  return inMunicipio(world, values, 'de que município é o evento', run);
}

/** The command that moves an event by one operation of the operator. */
function defineOperation(operacao: Operacao, summary: string): Command {
  return {
    name: `evento ${operacao}`,
    arguments: 'ID',
    summary,
    options: {
      ...MUNICIPIO,
      motivo: { takes: 'TEXTO', help: 'por quê; fica no histórico e em mensagem_retorno, que o integrador lê' },
    },
    run: (world, values, [id]) =>
      ofMunicipio(world, values, async (municipio) => {
        const asked = { operacao, ...readReason(values) };
        const moved = await world.registry((registry) => operateEvento(registry, municipio, id!, asked));
        return 'problem' in moved ? refuseAsked(world, moved.problem) : tellMoved(world, operacao, municipio, moved);
      }),
  };
}

function readReason(values: Values) {
  return { motivo: textOf(values, 'motivo'), quem: nameOperator(), via: 'comando' } as const;
}

// Filing of refusals.

async function arquivarCada(world: CliWorld, slug: string, values: Values, ids: readonly string[]): Promise<number> {
  if (values['confirmar'] !== undefined || repeatFiltro(values) !== '') {
    return askedWrongly(world, 'Indique os ID dos eventos, ou um filtro com --confirmar; não os dois.\n');
  }
  const asked = { operacao: 'arquivar', ...readReason(values) } as const;
  return world.registry(async (registry) => {
    let code = 0;
    for (const id of new Set(ids)) {
      const moved = await operateEvento(registry, slug, id, asked);
      if ('problem' in moved) code = refuseAsked(world, moved.problem);
      else tellMoved(world, 'arquivar', slug, moved);
    }
    return code;
  });
}

async function arquivarPorFiltro(world: CliWorld, slug: string, values: Values): Promise<number> {
  const args = repeatFiltro(values);
  if (args === '') {
    return askedWrongly(
      world,
      'Falta o que arquivar: os ID dos eventos, ou um filtro (--nota, --codigo, --entre-partes).\n',
    );
  }
  const confirmados = readCount(world, values, 'confirmar');
  if (confirmados === 'wrong') return 2;
  const asked = { confirmados, ...readReason(values) };
  const filed = await world.registry((registry) => arquivarEventos(registry, slug, readFiltro(values), asked));
  if ('problem' in filed) return refuseAsked(world, filed.problem);
  const { eventos, isDone } = filed;
  const found = `${groupDigits(eventos)} ${eventos === 1 ? 'recusa' : 'recusas'}`;
  if (isDone) {
    world.out(`${found} fora de "evento problemas"; o integrador continua a ver cada uma e o motivo dela.\n`);
    return 0;
  }
  if (eventos === 0) {
    world.out('Nenhuma recusa a arquivar com este filtro.\n');
    return 0;
  }
  const way = `nfse evento arquivar${args} --municipio ${slug} --confirmar ${eventos}`;
  if (confirmados === undefined) {
    return askedWrongly(world, `O filtro alcança ${found}. Nada foi arquivado ainda; para arquivar: ${way}\n`);
  }
  return refuseAsked(
    world,
    `O filtro alcança ${found}, e não ${groupDigits(confirmados)}: nada foi arquivado. Confira, e repita: ${way}`,
  );
}

function readFiltro(values: Values): FiltroDeProblemas {
  return {
    chave: textOf(values, 'nota'),
    estado: textOf(values, 'estado'),
    codigo: textOf(values, 'codigo'),
    entrePartes: values['entre-partes'] === true,
  };
}

/** The options of the filter, to be typed again; empty without a filter. */
function repeatFiltro(values: Values): string {
  const texts = ['nota', 'estado', 'codigo'].flatMap((name) => {
    const text = textOf(values, name);
    return text === undefined ? [] : [` --${name} ${text}`];
  });
  return [...texts, ...(values['entre-partes'] === true ? [' --entre-partes'] : [])].join('');
}

/** The number of an option, from 1 on; `wrong`: it is invalid, and the operator was told. */
function readCount(terminal: Terminal, values: Values, name: string): number | undefined | 'wrong' {
  const text = textOf(values, name);
  if (text === undefined) return undefined;
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  terminal.err(`--${name} ${text} não é um número a partir de 1.\n`);
  return 'wrong';
}

async function registrar(world: CliWorld, values: Values, [chave]: readonly string[]): Promise<number> {
  return ofMunicipio(world, values, async (municipio) => {
    const corpo = corpoOf(values);
    if (typeof corpo === 'string') return askedWrongly(world, corpo);
    const porMao = { quem: nameOperator(), via: 'comando' } as const;
    const pedido = { chave: chave!, corpo, cnpj: textOf(values, 'cnpj'), porMao };
    const registered = await world.registry((registry) => registrarDeOficio(registry, municipio, pedido));
    if ('problem' in registered) return refuseAsked(world, `Nada foi registrado. ${registered.problem}`);
    if ('faults' in registered) {
      return refuseAsked(world, `Nada foi registrado:\n${faultLines(faultsOfOptions(registered.faults))}`);
    }
    const { evento, identificador, avisos } = registered;
    world.out(`Evento registrado de ofício; o serviço no ar o envia em instantes.\n`);
    world.out(eventoLines(evento, [['identificador', identificador]]));
    for (const { codigo, mensagem } of avisos) world.out(`  aviso  ${codigo}  ${mensagem}\n`);
    world.out(`nfse evento mostrar ${evento.id_evento} --municipio ${municipio} diz o que foi feito dele.\n`);
    return 0;
  });
}

async function listar(world: CliWorld, slug: string, chave: string, values: Values): Promise<number> {
  const eventos = await world.registry((registry) => listEventos(registry, slug, chave));
  if ('problem' in eventos) return refuseAsked(world, eventos.problem);
  if (values['json'] === true) world.out(jsonText(eventos));
  else world.out(eventos.length === 0 ? 'A nota não tem eventos.\n' : eventosTable(eventos));
  return 0;
}

async function listarProblemas(world: CliWorld, slug: string, values: Values): Promise<number> {
  const pagina = readCount(world, values, 'pagina');
  if (pagina === 'wrong') return 2;
  const found = await world.registry((registry) =>
    listEventosComProblema(registry, slug, readFiltro(values), pagina ?? 1),
  );
  if ('problem' in found) return refuseAsked(world, found.problem);
  world.out(values['json'] === true ? jsonText(found) : describeProblemas(slug, found, repeatFiltro(values)));
  return 0;
}

/** Kinds of problem above the list, at most. */
const RESUMO_MAX = 12;

function describeProblemas(slug: string, problemas: Problemas, filtro: string): string {
  const { total, resumo, entre_partes, pagina, paginas, eventos } = problemas;
  const between =
    entre_partes === 0
      ? ''
      : `Fora desta lista, ${entre_partes === 1 ? 'uma recusa é assunto' : `${groupDigits(entre_partes)} recusas são assunto`} das partes: --entre-partes as mostra.\n`;
  if (total === 0) {
    return `${filtro === '' ? 'Nenhum evento pede atenção.\n' : 'Nenhum evento com este filtro.\n'}${between}`;
  }
  const counted = (count: number, name: string): string => `${groupDigits(count)} ${name}${count === 1 ? '' : 's'}`;
  const kinds = resumo
    .slice(0, RESUMO_MAX)
    .map(({ estado, codigo_retorno, eventos, notas }): [string, string] => [
      `${estado} ${printable(codigo_retorno ?? '')}`.trim(),
      `${counted(eventos, 'evento')} em ${counted(notas, 'nota')}`,
    ]);
  const hasMore = eventos.some(({ quantos }) => quantos > 1);
  return [
    `${counted(total, 'evento')}:\n${columns(kinds).join('\n')}\n`,
    resumo.length > RESUMO_MAX ? `  e mais ${resumo.length - RESUMO_MAX} motivos\n` : '',
    problemasTable(eventos),
    hasMore ? 'quantos: os eventos da nota com o mesmo problema; --nota CHAVE mostra cada um.\n' : '',
    between,
    pagina < paginas ? `Página ${pagina} de ${paginas}; a seguinte: --pagina ${pagina + 1}.\n` : '',
    `nfse evento mostrar ID --municipio ${slug} diz o que aconteceu com um, e o que se pode fazer.\n`,
  ].join('');
}

async function mostrar(world: CliWorld, slug: string, id: string, values: Values): Promise<number> {
  if (values['xml'] === true) {
    const found = await world.registry((registry) => eventoXml(registry, slug, id));
    if ('problem' in found) return refuseAsked(world, found.problem);
    world.out(found.xml);
    return 0;
  }
  const found = await world.registry((registry) => showEvento(registry, slug, id));
  if ('problem' in found) return refuseAsked(world, found.problem);
  world.out(values['json'] === true ? jsonText(found) : describeEvento(slug, found));
  return 0;
}

function describeEvento(
  slug: string,
  { evento, identificador, autor, campos, trilha, operacoes }: EventoInteiro,
): string {
  const own: (readonly [string, string])[] = [
    ['identificador', identificador],
    ['autor', autor],
  ];
  const can = operacoes.map((operacao) => `  nfse evento ${operacao} ${evento.id_evento} --municipio ${slug}\n`);
  return [
    eventoLines(evento, [...own, ...Object.entries(campos)]),
    `Histórico:
${trailRows(trilha).join('\n')}\n`,
    can.length === 0 ? '' : `O que se pode fazer:\n${can.join('')}`,
  ].join('');
}

function tellMoved(terminal: Terminal, operacao: Operacao, municipio: string, moved: Movido): number {
  const { evento } = moved;
  terminal.out(
    `${calledEvento(evento)} está ${evento.status_evento}. ${EFFECTS[operacao](evento, municipio, moved)}\n`,
  );
  return 0;
}

const EFFECTS: Readonly<Record<Operacao, (evento: EventoPublico, municipio: string, moved: Movido) => string>> = {
  reprocessar: () =>
    'O serviço no ar pergunta por ele ao ADN em instantes e, se o ADN não o tem, o envia. As tentativas automáticas já feitas continuam contadas.',
  separar: ({ id_evento }, municipio) =>
    `Ele não é mais enviado sozinho: nfse evento reprocessar ${id_evento} --municipio ${municipio} o retoma, dispensar o encerra.`,
  cancelar: () => 'Ele não será enviado, e não muda a nota.',
  dispensar: (_evento, _municipio, { stands, mayBeThere }) =>
    [
      stands ? 'Ele não será enviado, e vale neste município.' : 'Ele não será enviado, e não muda a nota.',
      ...(mayBeThere ? ['Se o ADN o recebeu numa tentativa anterior, lá ele vale.'] : []),
    ].join(' '),
  arquivar: () => 'Ele não aparece mais em "evento problemas"; o integrador continua a ver a recusa e o motivo dela.',
};
