/** `nfse evento …`: the municipality registers events by office, looks at events, and moves one by hand. */
import type { EventoPublico } from '../../flows/evento-queries.ts';
import {
  calledEvento,
  type EventoInteiro,
  eventoXml,
  listEventos,
  listEventosComProblema,
  type Movido,
  type Operacao,
  operateEvento,
  registrarDeOficio,
  showEvento,
} from '../../flows/operate-eventos.ts';
import { type CliWorld, type Command, columns, type Terminal, textOf, type Values } from './command.ts';
import { CORPO_OPTIONS, CORPO_OPTIONS_HELP, corpoOf, faultsOfOptions, tiposHelp } from './evento-corpo.ts';
import { ENVIAR } from './evento-enviar.ts';
import { eventoLines, eventosTable, printable } from './evento-lines.ts';
import { faultLines } from './faults.ts';

const MUNICIPIO = { municipio: { type: 'string' } } as const;
const MUNICIPIO_HELP = ['--municipio SLUG', 'município do evento'] as const;

export const EVENTO_COMMANDS: readonly Command[] = [
  ENVIAR,
  {
    name: 'evento registrar',
    arguments: 'CHAVE',
    summary: 'Registra de ofício um evento do município na nota de uma chave de acesso.',
    options: { ...MUNICIPIO, ...CORPO_OPTIONS, cnpj: { type: 'string' } },
    optionsHelp: [
      MUNICIPIO_HELP,
      ...CORPO_OPTIONS_HELP,
      ['--cnpj CNPJ', 'CNPJ do município, o autor do evento (padrão: o do seu certificado)'],
    ],
    moreHelp: () => tiposHelp(({ porOficio }) => porOficio),
    takes: 1,
    run: registrar,
  },
  {
    name: 'evento listar',
    arguments: 'CHAVE',
    summary: 'Lista os eventos de uma nota, do mais novo ao mais antigo.',
    options: { ...MUNICIPIO, json: { type: 'boolean' } },
    optionsHelp: [MUNICIPIO_HELP, ['--json', 'os objetos inteiros, em JSON']],
    takes: 1,
    run: (world, values, [chave]) => inMunicipio(world, values, (slug) => listar(world, slug, chave!, values)),
  },
  {
    name: 'evento problemas',
    arguments: '',
    summary:
      'Lista os eventos que pedem a atenção do município: os de acao_sugerida consultar_suporte, sem as recusas arquivadas.',
    options: { ...MUNICIPIO, json: { type: 'boolean' } },
    optionsHelp: [MUNICIPIO_HELP, ['--json', 'os objetos inteiros, em JSON']],
    takes: 0,
    run: (world, values) => inMunicipio(world, values, (slug) => listarProblemas(world, slug, values)),
  },
  {
    name: 'evento mostrar',
    arguments: 'ID',
    summary: 'Mostra um evento com tudo o que lhe aconteceu; ID é o seu id_evento.',
    options: { ...MUNICIPIO, xml: { type: 'boolean' }, json: { type: 'boolean' } },
    optionsHelp: [
      MUNICIPIO_HELP,
      ['--xml', 'só o documento do evento, como é transmitido'],
      ['--json', 'o mesmo que sem ela, em JSON'],
    ],
    takes: 1,
    run: (world, values, [id]) => inMunicipio(world, values, (slug) => mostrar(world, slug, id!, values)),
  },
  operation('reprocessar', 'Envia de novo um evento que falhou, depois de perguntar ao ADN se já o tem.'),
  operation('separar', 'Separa para análise um evento em erro: ele não é mais enviado sozinho.'),
  operation('cancelar', 'Retira um evento que ainda não foi enviado ao ADN.'),
  operation('dispensar', 'Dispensa um evento do envio ao ADN, de vez.'),
  operation(
    'arquivar',
    'Dá por vista a recusa de um evento: ele sai de "evento problemas", e mais nada muda.',
    'por quê; fica na trilha',
  ),
];

function operation(
  operacao: Operacao,
  summary: string,
  motivo = 'por quê; fica na trilha e em mensagem_retorno, que o integrador lê',
): Command {
  return {
    name: `evento ${operacao}`,
    arguments: 'ID',
    summary,
    options: { ...MUNICIPIO, motivo: { type: 'string' } },
    optionsHelp: [MUNICIPIO_HELP, ['--motivo TEXTO', motivo]],
    takes: 1,
    run: (world, values, [id]) =>
      inMunicipio(world, values, async (municipio) => {
        const asked = { operacao, motivo: textOf(values, 'motivo') };
        const moved = await world.registry((registry) => operateEvento(registry, municipio, id!, asked));
        return 'problem' in moved ? refused(world, moved.problem) : toldMove(world, operacao, municipio, moved);
      }),
  };
}

/** Exit code 2 when no municipality is named: a wrong one would be another's. */
async function inMunicipio(
  terminal: Terminal,
  values: Values,
  run: (slug: string) => Promise<number>,
): Promise<number> {
  const municipio = textOf(values, 'municipio');
  if (municipio !== undefined) return run(municipio);
  terminal.err('Falta --municipio SLUG: de que município é o evento.\n');
  return 2;
}

function refused(terminal: Terminal, problem: string): number {
  terminal.err(`${problem}\n`);
  return 1;
}

async function registrar(world: CliWorld, values: Values, [chave]: readonly string[]): Promise<number> {
  return inMunicipio(world, values, async (municipio) => {
    const corpo = corpoOf(values);
    if (typeof corpo === 'string') {
      world.err(corpo);
      return 2;
    }
    const pedido = { chave: chave!, corpo, cnpj: textOf(values, 'cnpj') };
    const registered = await world.registry((registry) => registrarDeOficio(registry, municipio, pedido));
    if ('problem' in registered) return refused(world, `Nada foi registrado. ${registered.problem}`);
    if ('faults' in registered) {
      world.err(`Nada foi registrado:\n${faultLines(faultsOfOptions(registered.faults))}\n`);
      return 1;
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
  if ('problem' in eventos) return refused(world, eventos.problem);
  if (values.json === true) world.out(json(eventos));
  else world.out(eventos.length === 0 ? 'A nota não tem eventos.\n' : eventosTable(eventos));
  return 0;
}

async function listarProblemas(world: CliWorld, slug: string, values: Values): Promise<number> {
  const { eventos, total } = await world.registry((registry) => listEventosComProblema(registry, slug));
  if (values.json === true) world.out(json(eventos));
  else if (total === 0) world.out('Nenhum evento pede atenção.\n');
  else {
    world.out(eventosTable(eventos));
    if (total > eventos.length) world.out(`São ${total} ao todo; aqui estão ${eventos.length}.\n`);
    world.out(`nfse evento mostrar ID --municipio ${slug} diz o que aconteceu com um, e o que se pode fazer.\n`);
  }
  return 0;
}

function json(value: object): string {
  return `${JSON.stringify(value, undefined, 2)}\n`;
}

async function mostrar(world: CliWorld, slug: string, id: string, values: Values): Promise<number> {
  if (values.xml === true) {
    const found = await world.registry((registry) => eventoXml(registry, slug, id));
    if ('problem' in found) return refused(world, found.problem);
    world.out(found.xml);
    return 0;
  }
  const found = await world.registry((registry) => showEvento(registry, slug, id));
  if ('problem' in found) return refused(world, found.problem);
  world.out(values.json === true ? json(found) : wholeText(slug, found));
  return 0;
}

function wholeText(slug: string, { evento, identificador, autor, campos, trilha, operacoes }: EventoInteiro): string {
  const own: (readonly [string, string])[] = [
    ['identificador', identificador],
    ['autor', autor],
  ];
  const trail = trilha.map(({ em, de, gatilho, para, mensagem }): [string, string] => [
    em,
    `${de === null ? '' : `${de} → `}${para} (${gatilho})${mensagem === null ? '' : `: ${printable(mensagem)}`}`,
  ]);
  const can = operacoes.map((operacao) => `  nfse evento ${operacao} ${evento.id_evento} --municipio ${slug}\n`);
  return [
    eventoLines(evento, [...own, ...Object.entries(campos)]),
    `Trilha:\n${columns(trail).join('\n')}\n`,
    can.length === 0 ? '' : `O que se pode fazer:\n${can.join('')}`,
  ].join('');
}

function toldMove(terminal: Terminal, operacao: Operacao, municipio: string, moved: Movido): number {
  const { evento } = moved;
  terminal.out(
    `${calledEvento(evento)} está ${evento.status_evento}. ${WHAT_FOLLOWS[operacao](evento, municipio, moved)}\n`,
  );
  return 0;
}

const WHAT_FOLLOWS: Readonly<Record<Operacao, (evento: EventoPublico, municipio: string, moved: Movido) => string>> = {
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
