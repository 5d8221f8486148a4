/** The client: each operation of the service as a function with its types. `acompanhar.ts` waits until a note or an event changes no more by itself. */
import { type Acompanhamento } from './acompanhar.ts';
import { type ClienteDoAmbiente } from './ambiente.ts';
import { type Dps } from './corpo.ts';
import { type ClienteDaParte } from './parte.ts';
import { type Assinada, type Envio, type Interrompivel, type OpcoesDoCliente } from './pedidos.ts';
import type { CodigoDaTabela, Consultas, Evento, Operacao, PedidoDeEvento, Respostas } from './tipos.ts';
export type NotaEmitida = {
    readonly chave_acesso: string;
    readonly numero_protocolo: string;
    /** A NFS-e como foi gerada; null quando a nota já existia de um envio com outra chave. */
    readonly xml_nfse: string | null;
    readonly avisos: Respostas['emitirNota']['avisos'];
    /** Se a resposta é de um envio de antes: nada foi emitido agora. */
    readonly repetida: boolean;
};
export type EventoRegistrado = Respostas['registrarEvento'] & {
    /** Se a resposta é de um envio de antes: nada foi registrado agora. */
    readonly repetida: boolean;
};
export type NotaEmRepouso = Respostas['consultarNota'] & {
    readonly situacao: 'autorizada' | 'cancelada' | 'rejeitada';
};
/** De que nota se fala em um evento: a chave de acesso, ou o número de protocolo. */
export type NotaNomeada = string | {
    readonly protocolo: string;
};
export type EventoNomeado = Pick<Evento, 'chave_acesso' | 'tipo_evento' | 'numero_sequencial'>;
type DoCatalogo<Nome> = Nome extends `catalogo_${infer Resto}` ? Resto : never;
export type NomeDeCatalogo = DoCatalogo<Operacao>;
export type PaginaDeCatalogo<Nome extends NomeDeCatalogo> = Respostas[`catalogo_${Nome}`];
export type ItemDeCatalogo<Nome extends NomeDeCatalogo> = PaginaDeCatalogo<Nome>['itens'][number];
export type FiltrosDeCatalogo<Nome extends NomeDeCatalogo> = Consultas[`catalogo_${Nome}`];
export type Cliente = ClienteDaParte & ClienteDoAmbiente & {
    /**
     * Emite a nota de uma DPS, e insiste até saber se emitiu: uma repetição nunca é uma segunda nota. Rejeita com `Recusado`,
     * `NaoEntregue` ou `Indeterminado`.
     */
    emitirNota(dps: Dps, envio?: Envio): Promise<NotaEmitida>;
    /** Ensaio: os valores com cada passo do cálculo, ou `Recusado` com todos os erros. Nada é gravado. */
    validarDps(dps: Dps, opcoes?: Interrompivel & Assinada): Promise<Respostas['validarDps']>;
    /** Diz se a produção aceitaria a assinatura, e o que mudar. */
    verificarAssinatura(dps: Dps, opcoes?: Interrompivel & Assinada): Promise<Respostas['verificarAssinatura']>;
    consultarNota(chave: string, opcoes?: Interrompivel): Promise<Respostas['consultarNota']>;
    consultarNotaPorProtocolo(protocolo: string, opcoes?: Interrompivel): Promise<Respostas['consultarNotaPorProtocolo']>;
    /** Pelo identificador da DPS ({@link identificadorDaDps}). Em produção, com o certificado de uma parte. */
    consultarNotaPorDps(id: string, opcoes?: Interrompivel): Promise<Respostas['consultarNotaPorDps']>;
    /** Se há nota da DPS; aberta também em produção. */
    existeNotaDaDps(id: string, opcoes?: Interrompivel): Promise<boolean>;
    /** Consulta até que a nota repouse: autorizada, cancelada ou rejeitada pelo ADN. */
    acompanharNota(chave: string, opcoes?: Acompanhamento<Respostas['consultarNota']>): Promise<NotaEmRepouso>;
    /**
     * Espera no próprio serviço, que responde quando a nota é decidida: como `acompanharNota`, sem perguntar de novo a cada momento.
     * `prazoMs`: como ali.
     */
    esperarDecisao(chave: string, opcoes?: Interrompivel & {
        readonly prazoMs?: number;
    }): Promise<NotaEmRepouso>;
    /** Registra um evento, e insiste como `emitirNota`. */
    registrarEvento(nota: NotaNomeada, pedido: PedidoDeEvento | string | Uint8Array, envio?: Envio): Promise<EventoRegistrado>;
    listarEventos(chave: string, opcoes?: Interrompivel): Promise<Respostas['listarEventos']>;
    listarEventosDoTipo(chave: string, tipo: Evento['tipo_evento'], opcoes?: Interrompivel): Promise<Respostas['listarEventosDoTipo']>;
    consultarEvento(evento: EventoNomeado, opcoes?: Interrompivel): Promise<Evento>;
    /**
     * Consulta até que o evento repouse, ou que `acao_sugerida` diga que esperar não adianta (`consultar_suporte`). O que foi feito
     * dele diz `status_evento`.
     */
    acompanharEvento(evento: EventoNomeado, opcoes?: Acompanhamento<Evento>): Promise<Evento>;
    /** O PDF de uma nota autorizada. */
    baixarDanfse(chave: string, opcoes?: Interrompivel): Promise<Uint8Array>;
    /** Se um prestador pode emitir, e o que falta. Em produção, com o certificado dele. */
    consultarSituacaoDoPrestador(documento: string, opcoes?: Interrompivel & Consultas['consultarSituacaoDoPrestador']): Promise<Respostas['consultarSituacaoDoPrestador']>;
    /** Uma página de um catálogo. */
    catalogo<Nome extends NomeDeCatalogo>(nome: Nome, filtros?: FiltrosDeCatalogo<Nome>, opcoes?: Interrompivel): Promise<PaginaDeCatalogo<Nome>>;
    /** Todos os itens de um catálogo, página por página. */
    itensDoCatalogo<Nome extends NomeDeCatalogo>(nome: Nome, filtros?: Omit<FiltrosDeCatalogo<Nome>, 'page' | 'per_page'>, opcoes?: Interrompivel): AsyncIterableIterator<ItemDeCatalogo<Nome>>;
    /** O que significa um código e como resolver; undefined se o serviço não o conhece. A tabela é pedida uma vez. */
    explicar(codigo: string | undefined, opcoes?: Interrompivel): Promise<CodigoDaTabela | undefined>;
};
/** Um cliente de um município. Rejeita logo um endereço ou um certificado que não serve. */
export declare function createCliente(opcoes: OpcoesDoCliente): Cliente;
/** De que DPS se fala, pelo que está nela. */
export type PartesDaDps = {
    /** Município emissor, 7 algarismos. */
    readonly municipio: string;
    /** CNPJ ou CPF do prestador, sem pontuação. */
    readonly documento: string;
    readonly serie: string;
    readonly numero: string | number;
};
/** O identificador de uma DPS, com que se pergunta se há nota dela. */
export declare function identificadorDaDps({ municipio, documento, serie, numero }: PartesDaDps): string;
export {};
