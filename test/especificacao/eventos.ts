/** The properties of each type of event, by the table "Events" of the specification and Anexo II v1.01: one row for each table. */

/**
 * Code, slug, inferred author (Endpoints), whether E9016 refuses it (D-50), whether it cancels the note (D-21), E1818. The last column is
 * its code for "not accepted after ..." (Anexo II).
 */
export const SPECIFIED = `
  101101 cancelamento                                   prestador     -      cancela -        E0840
  105102 cancelamento_por_substituicao                  prestador     -      cancela -        E0845
  101103 solicitacao_analise_fiscal_para_cancelamento   prestador     -      -       -        E0848
  105104 cancelamento_deferido_por_analise_fiscal       -             oficio cancela -        E0852
  105105 cancelamento_indeferido_por_analise_fiscal     -             oficio -       -        E0855
  202201 confirmacao_prestador                          prestador     -      -       soAqui   E0860
  203202 confirmacao_tomador                            tomador       -      -       soAqui   E0861
  204203 confirmacao_intermediario                      intermediario -      -       soAqui   E0862
  205204 confirmacao_tacita                             -             oficio -       -        E0863
  202205 rejeicao_prestador                             prestador     -      -       soAqui   E0864
  203206 rejeicao_tomador                               tomador       -      -       soAqui   E0866
  204207 rejeicao_intermediario                         intermediario -      -       soAqui   E0868
  205208 anulacao_rejeicao                              -             oficio -       -        E0870
  305101 cancelamento_por_oficio                        -             oficio cancela -        E1960
  305102 bloqueio_por_oficio                            -             oficio -       -        E1965
  305103 desbloqueio_por_oficio                         -             oficio -       -        E1970`
  .trim()
  .split('\n')
  .map((line) => line.trim().split(/\s+/));

export const REFUSALS: Readonly<Record<string, string>> = Object.fromEntries(
  SPECIFIED.map((row) => [row[0]!, row[6]!]),
);

export const CHAVE = '35503081211222333000181000000000000126091234567895';
export const OUTRA = '35503081211222333000181000000000000226101234567890';

type Shape = {
  readonly xDesc: string;
  /** Elements after xDesc: `!` required, `?` optional, and the lengths of the schema. */
  readonly elements: string;
  /** Properties of the request in the order of the elements: the specification's names, and ours (D-747). */
  readonly names: string;
  /** A request, and the elements after xDesc that it becomes. */
  readonly campos: Readonly<Record<string, string>>;
  readonly text: string;
};

/** The specific group of each type (Anexo II). */
export const SHAPES: Readonly<Record<string, Shape>> = {
  '101101': {
    xDesc: 'Cancelamento de NFS-e',
    elements: 'cMotivo!1-1 xMotivo!15-255',
    names: 'codigo_motivo_cancelamento descricao_motivo_cancelamento',
    campos: {
      codigo_motivo_cancelamento: '1',
      descricao_motivo_cancelamento: 'Erro no valor do serviço',
    },
    text: '<cMotivo>1</cMotivo><xMotivo>Erro no valor do serviço</xMotivo>',
  },
  '105102': {
    xDesc: 'Cancelamento de NFS-e por Substituição',
    elements: 'cMotivo!2-2 xMotivo?15-255 chSubstituta!50-50',
    names: 'codigo_motivo_cancelamento descricao_motivo_cancelamento chave_acesso_substituta',
    campos: {
      chave_acesso_substituta: OUTRA,
      codigo_motivo_cancelamento: '99',
      descricao_motivo_cancelamento: 'Descrição corrigida na outra',
    },
    text: `<cMotivo>99</cMotivo><xMotivo>Descrição corrigida na outra</xMotivo><chSubstituta>${OUTRA}</chSubstituta>`,
  },
  '101103': {
    xDesc: 'Solicitação de Análise Fiscal para Cancelamento de NFS-e',
    elements: 'cMotivo!1-1 xMotivo!15-255',
    names: 'codigo_motivo_cancelamento descricao_motivo_cancelamento',
    campos: {
      codigo_motivo_cancelamento: '9',
      descricao_motivo_cancelamento: 'Outro motivo, descrito',
    },
    text: '<cMotivo>9</cMotivo><xMotivo>Outro motivo, descrito</xMotivo>',
  },
  '105104': {
    xDesc: 'Cancelamento de NFS-e Deferido por Análise Fiscal',
    elements: 'CPFAgTrib!11-11 nProcAdm?1-30 cMotivo!1-1 xMotivo!15-255',
    names: 'cpf_agente_tributario numero_processo_administrativo codigo_motivo descricao_motivo',
    campos: {
      cpf_agente_tributario: '52998224725',
      numero_processo_administrativo: '2026000123',
      codigo_motivo: '1',
      descricao_motivo: 'Serviço não prestado',
    },
    text: '<CPFAgTrib>52998224725</CPFAgTrib><nProcAdm>2026000123</nProcAdm><cMotivo>1</cMotivo><xMotivo>Serviço não prestado</xMotivo>',
  },
  '105105': {
    xDesc: 'Cancelamento de NFS-e Indeferido por Análise Fiscal',
    elements: 'CPFAgTrib!11-11 nProcAdm?1-30 cMotivo!1-1 xMotivo!15-255',
    names: 'cpf_agente_tributario numero_processo_administrativo codigo_motivo descricao_motivo',
    campos: {
      cpf_agente_tributario: '52998224725',
      codigo_motivo: '2',
      descricao_motivo: 'Pedido fora do prazo',
    },
    text: '<CPFAgTrib>52998224725</CPFAgTrib><cMotivo>2</cMotivo><xMotivo>Pedido fora do prazo</xMotivo>',
  },
  '202201': {
    xDesc: 'Manifestação de NFS-e - Confirmação do Prestador',
    elements: '',
    names: '',
    campos: {},
    text: '',
  },
  '203202': {
    xDesc: 'Manifestação de NFS-e - Confirmação do Tomador',
    elements: '',
    names: '',
    campos: {},
    text: '',
  },
  '204203': {
    xDesc: 'Manifestação de NFS-e - Confirmação do Intermediário',
    elements: '',
    names: '',
    campos: {},
    text: '',
  },
  '205204': {
    xDesc: 'Manifestação de NFS-e - Confirmação Tácita',
    elements: '',
    names: '',
    campos: {},
    text: '',
  },
  '202205': {
    xDesc: 'Manifestação de NFS-e - Rejeição do Prestador',
    elements: 'cMotivo!1-1 xMotivo?15-255',
    names: 'codigo_motivo_rejeicao descricao_motivo_rejeicao',
    campos: {
      codigo_motivo_rejeicao: '1',
    },
    text: '<cMotivo>1</cMotivo>',
  },
  '203206': {
    xDesc: 'Manifestação de NFS-e - Rejeição do Tomador',
    elements: 'cMotivo!1-1 xMotivo?15-255',
    names: 'codigo_motivo_rejeicao descricao_motivo_rejeicao',
    campos: {
      codigo_motivo_rejeicao: '9',
      descricao_motivo_rejeicao: 'Não contratei este serviço',
    },
    text: '<cMotivo>9</cMotivo><xMotivo>Não contratei este serviço</xMotivo>',
  },
  '204207': {
    xDesc: 'Manifestação de NFS-e - Rejeição do Intermediário',
    elements: 'cMotivo!1-1 xMotivo?15-255',
    names: 'codigo_motivo_rejeicao descricao_motivo_rejeicao',
    campos: {
      codigo_motivo_rejeicao: '5',
    },
    text: '<cMotivo>5</cMotivo>',
  },
  '205208': {
    xDesc: 'Manifestação de NFS-e - Anulação da Rejeição',
    elements: 'CPFAgTrib!11-11 idEvManifRej!56-62 xMotivo!15-255',
    names: 'cpf_agente_tributario id_evento_rejeicao descricao_motivo',
    campos: {
      cpf_agente_tributario: '52998224725',
      id_evento_rejeicao: `EVT${CHAVE}203206001`,
      descricao_motivo: 'Rejeitada por quem não podia',
    },
    text: `<CPFAgTrib>52998224725</CPFAgTrib><idEvManifRej>${CHAVE}203206</idEvManifRej><xMotivo>Rejeitada por quem não podia</xMotivo>`,
  },
  '305101': {
    xDesc: 'Cancelamento de NFS-e por Ofício',
    elements: 'CPFAgTrib!11-11 nProcAdm!1-30 xProcAdm!15-255',
    names: 'cpf_agente_tributario numero_processo_administrativo descricao_processo_administrativo',
    campos: {
      cpf_agente_tributario: '52998224725',
      numero_processo_administrativo: '1',
      descricao_processo_administrativo: 'Contribuinte baixado',
    },
    text: '<CPFAgTrib>52998224725</CPFAgTrib><nProcAdm>1</nProcAdm><xProcAdm>Contribuinte baixado</xProcAdm>',
  },
  '305102': {
    xDesc: 'Bloqueio de NFS-e por Ofício',
    elements: 'CPFAgTrib!11-11 codEvento!7-7 xMotivo!15-255',
    names: 'cpf_agente_tributario codigo_evento_bloqueado descricao_motivo',
    campos: {
      cpf_agente_tributario: '52998224725',
      codigo_evento_bloqueado: 'e101101',
      descricao_motivo: 'Nota sob fiscalização',
    },
    text: '<CPFAgTrib>52998224725</CPFAgTrib><codEvento>e101101</codEvento><xMotivo>Nota sob fiscalização</xMotivo>',
  },
  '305103': {
    xDesc: 'Desbloqueio de NFS-e por Ofício',
    elements: 'CPFAgTrib!11-11 idBloqOfic!56-62',
    names: 'cpf_agente_tributario id_evento_bloqueio',
    campos: {
      cpf_agente_tributario: '52998224725',
      id_evento_bloqueio: `${CHAVE}305102`,
    },
    text: `<CPFAgTrib>52998224725</CPFAgTrib><idBloqOfic>${CHAVE}305102</idBloqOfic>`,
  },
};
