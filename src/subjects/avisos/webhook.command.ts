/** `nfse webhook …`: the webhook addresses of a municipality, and the results of their messages. */

import {
  askedWrongly,
  byHand,
  type CliWorld,
  type Command,
  JSON_OPTION,
  type Options,
  refuseAsked,
  textOf,
  type Values,
  withMotivo,
} from '../../base/terminal/command.ts';
import { columns, jsonText, printable, quoteArgument, shortMoment, tableLines } from '../../base/terminal/text.ts';
import type { RegistryWorld } from '../../base/world/municipios.ts';
import type { PorMao, Problem } from '../../base/world/operator.ts';
import { maskDocumento, whyNoDocumento } from '../../fiscal/chave.ts';
import { MES_FECHADO, MUDANCAS, SIGNIFICADO_DO_MES } from '../../fiscal/mudanca.ts';
import {
  cadastrarAviso,
  ensaiarAviso,
  ligarAviso,
  listAvisos,
  listEntregasDoAviso,
  reenviarAvisos,
  retirarAviso,
  trocarSegredo,
} from './do-municipio.ts';
import { ESCUTAR } from './escutar.command.ts';
import { AVISO_GUARDA_DIAS } from './tempos.ts';
import {
  type EntregaContada,
  ESTADOS_ENTREGA,
  SEGREDO_ANTERIOR_HORAS,
  type TentativaPublica,
  type WebhookPublico,
} from './webhooks.ts';

const MOTIVO = { motivo: { takes: 'TEXTO', help: 'por quê; fica no histórico do município' } } as const;
const ENTREGAS_MAX = 100;

export const WEBHOOK_COMMANDS: readonly Command[] = [
  {
    name: 'webhook listar',
    arguments: 'SLUG',
    summary: 'Lista os endereços avisados do que muda: os do município e os dos prestadores.',
    options: { documento: { takes: 'DOCUMENTO', help: 'só os deste CNPJ ou CPF' }, ...JSON_OPTION },
    run: listar,
  },
  {
    name: 'webhook cadastrar',
    arguments: 'SLUG URL',
    summary: 'Cadastra um endereço do município, que é avisado das notas e eventos de todos; mostra o segredo uma vez.',
    options: {
      tipos: { takes: 'LISTA', help: 'só destas mudanças, separadas por vírgula (padrão: todas)' },
      descricao: { takes: 'TEXTO', help: 'um nome para ele' },
      ...MOTIVO,
      ...JSON_OPTION,
    },
    moreHelp: () => [
      '',
      'Mudanças:',
      ...columns([
        ...MUDANCAS.map(({ tipo, significado }) => [tipo, significado] as const),
        [MES_FECHADO, SIGNIFICADO_DO_MES],
      ]),
    ],
    run: cadastrar,
  },
  onOne('desligar', 'Deixa de avisar um endereço do município, que fica.', MOTIVO, (by, at) =>
    sayDone(at, ligarAviso(at.registry, at.slug, at.id, false, by), `O endereço ${at.id} já não é avisado.`),
  ),
  onOne('ligar', 'Volta a avisar um endereço do município, e tenta logo.', MOTIVO, (by, at) =>
    sayDone(at, ligarAviso(at.registry, at.slug, at.id, true, by), `O endereço ${at.id} é avisado outra vez.`),
  ),
  onOne(
    'retirar',
    'Retira um endereço do município, e o que esperava por ele.',
    { motivo: { ...MOTIVO.motivo, help: 'por quê (obrigatório); fica no histórico do município' } },
    async (by, at) =>
      withMotivo(at.world, at.values, () =>
        sayDone(at, retirarAviso(at.registry, at.slug, at.id, by), `O endereço ${at.id} foi retirado.`),
      ),
  ),
  onOne(
    'segredo',
    `Troca o segredo de um endereço; o anterior assina por mais ${SEGREDO_ANTERIOR_HORAS} h.`,
    MOTIVO,
    rotate,
  ),
  onOne('ensaiar', 'Envia a um endereço do município um aviso de ensaio, assinado como os outros.', MOTIVO, (by, at) =>
    sayDone(
      at,
      ensaiarAviso(at.registry, at.slug, at.id, by),
      `O ensaio segue em segundos, se o serviço está no ar. nfse webhook entregas ${at.slug} ${at.id} diz o que houve.`,
    ),
  ),
  {
    name: 'webhook entregas',
    arguments: 'SLUG ID',
    summary: `O que se avisou e se tenta avisar a um endereço, do mais novo ao mais antigo; por ${AVISO_GUARDA_DIAS.mostrar} dias.`,
    options: {
      estado: { takes: 'ESTADO', help: `só as deste estado: ${ESTADOS_ENTREGA.join(', ')}` },
      depois: { takes: 'ID', help: 'continua depois desta entrega' },
      ...JSON_OPTION,
    },
    run: entregas,
  },
  onOne(
    'reenviar',
    'Volta a tentar o que se deixou de tentar (entregas mortas).',
    { entrega: { takes: 'ID', help: 'só esta entrega (padrão: todas as mortas)' }, ...MOTIVO },
    again,
  ),
  ESCUTAR,
];

/** The context of a command that acts on one address. */
type At = {
  readonly world: CliWorld;
  readonly registry: RegistryWorld;
  readonly values: Values;
  readonly slug: string;
  readonly id: string;
};

function onOne(act: string, summary: string, options: Options, work: (by: PorMao, at: At) => Promise<number>): Command {
  return {
    name: `webhook ${act}`,
    arguments: 'SLUG ID',
    summary,
    options,
    run: (world, values, [slug, id]) =>
      world.registry((registry) => work(byHand(values), { world, registry, values, slug: slug!, id: id! })),
  };
}

async function sayDone({ world }: At, doing: Promise<object | Problem>, said: string): Promise<number> {
  const done = await doing;
  if ('problem' in done) return refuseAsked(world, (done as Problem).problem);
  world.out(`${said}\n`);
  return 0;
}

async function rotate(by: PorMao, { world, registry, slug, id }: At): Promise<number> {
  const done = await trocarSegredo(registry, slug, id, by);
  if ('problem' in done) return refuseAsked(world, done.problem);
  world.out(`O segredo do endereço ${id} foi trocado.\n${secretLines(done.segredo)}`);
  return 0;
}

function secretLines(segredo: string): string {
  return ['Guarde este segredo onde o receptor o lê; ele não é mostrado de novo:', '', `  ${segredo}`, '', ''].join(
    '\n',
  );
}

async function again(by: PorMao, { world, registry, values, slug, id }: At): Promise<number> {
  const done = await reenviarAvisos(registry, slug, id, textOf(values, 'entrega'), by);
  if ('problem' in done) return refuseAsked(world, done.problem);
  const { reenviadas } = done;
  if (reenviadas === 0) return refuseAsked(world, 'Nenhuma entrega morta assim neste endereço.');
  const said = reenviadas === 1 ? '1 entrega volta a ser tentada' : `${reenviadas} entregas voltam a ser tentadas`;
  world.out(`${said}, se o serviço está no ar.\n`);
  return 0;
}

async function listar(world: CliWorld, values: Values, [slug]: readonly string[]): Promise<number> {
  const documento = textOf(values, 'documento');
  const problem = documento === undefined ? undefined : whyNoDocumento(documento);
  if (problem !== undefined) return askedWrongly(world, `O documento indicado ${problem}.\n`);
  return world.registry(async (registry) => {
    const webhooks = await listAvisos(registry, slug!, documento);
    if (values['json'] === true) world.out(jsonText(webhooks));
    else if (webhooks.length === 0) {
      world.err(`Nenhum endereço. nfse webhook cadastrar ${slug} URL cadastra um do município.\n`);
    } else {
      const head = ['id', 'de quem', 'situação', 'avisa de', 'endereço', 'último problema'];
      world.out(
        `${tableLines([head, ...webhooks.map(rowOf)], world.columns, [head.indexOf('endereço')]).join('\n')}\n`,
      );
    }
    return 0;
  });
}

function rowOf(one: WebhookPublico): readonly string[] {
  return [
    one.id,
    one.documento === null ? 'município' : maskDocumento(one.documento),
    one.estado === 'ativo' ? (one.falhas > 0 ? `falhando (${one.falhas})` : 'ligado') : one.estado,
    one.tipos.join(', ') || 'tudo',
    // The path may contain a secret of the receiver.
    one.documento === null ? printable(one.url) : new URL(one.url).origin,
    printable(one.ultimo_problema ?? ''),
  ];
}

async function cadastrar(world: CliWorld, values: Values, [slug, url]: readonly string[]): Promise<number> {
  const list = textOf(values, 'tipos');
  const tipos = list === undefined ? [] : list.split(',').map((one) => one.trim());
  const escrito = { url: url!, tipos, descricao: textOf(values, 'descricao') };
  return world.registry(async (registry) => {
    const made = await cadastrarAviso(registry, slug!, escrito, byHand(values));
    if ('problems' in made) {
      const lines = Object.entries(made.problems).map(([campo, said]) => {
        const name = campo === 'url' ? 'URL: ' : campo === '' || campo === 'motivo' ? '' : `--${campo}: `;
        return `${name}${said}`;
      });
      return refuseAsked(world, `Nada foi cadastrado.\n${lines.join('\n')}`);
    }
    const { webhook, segredo } = made;
    if (values['json'] === true) world.out(jsonText(made));
    else {
      world.out(`Endereço ${webhook.id} cadastrado: ${webhook.url}\n${secretLines(segredo)}`);
      world.out(
        `Antes do primeiro aviso o serviço pergunta ao endereço se quer avisos; até que confirme, ele fica pendente.\nnfse webhook ensaiar ${slug} ${webhook.id} pergunta logo, e envia um aviso de ensaio.\n`,
      );
    }
    return 0;
  });
}

async function entregas(world: CliWorld, values: Values, [slug, id]: readonly string[]): Promise<number> {
  const asked = textOf(values, 'estado');
  const estado = ESTADOS_ENTREGA.find((one) => one === asked);
  if (asked !== undefined && estado === undefined) {
    return askedWrongly(world, `--estado é um de: ${ESTADOS_ENTREGA.join(', ')}.\n`);
  }
  return world.registry(async (registry) => {
    const cursor = textOf(values, 'depois');
    const page = await listEntregasDoAviso(registry, slug!, id!, { estado, cursor, max: ENTREGAS_MAX });
    if ('problem' in page) return refuseAsked(world, page.problem);
    if (values['json'] === true) world.out(jsonText(page));
    else if (page.entregas.length === 0) world.err('Nenhuma entrega assim.\n');
    else {
      const head = ['id', 'aviso', 'estado', 'vezes', 'entregue/próxima', 'última tentativa'];
      world.out(`${tableLines([head, ...page.entregas.map(entregaRow)], world.columns, [1]).join('\n')}\n`);
      const filter = estado === undefined ? '' : ` --estado ${estado}`;
      if (page.cursor !== null) {
        world.out(`Mais: nfse webhook entregas ${slug} ${id}${filter} --depois=${quoteArgument(page.cursor)}\n`);
      }
    }
    return 0;
  });
}

function entregaRow(one: EntregaContada): readonly string[] {
  const { id, tipo, estado, tentativas, entregue_em, proxima_tentativa, registro } = one;
  const then = entregue_em ?? proxima_tentativa;
  const shown = then === null ? '' : shortMoment(then);
  return [id, tipo ?? '(apagado)', estado, String(tentativas), shown, sayTentativa(registro.at(-1))];
}

function sayTentativa(last: TentativaPublica | undefined): string {
  if (last === undefined) return '';
  return last.status === null ? printable(last.problema ?? '') : `respondeu ${last.status} em ${last.ms} ms`;
}
