//! DescribeConfigs (key 32).

use kafka_protocol::messages::DescribeConfigsResponse;
use kafka_protocol::messages::describe_configs_response::{
    DescribeConfigsResourceResult, DescribeConfigsResult, DescribeConfigsSynonym,
};
use kafka_protocol::protocol::StrBytes;

use crate::core::messages::configs::{
    DescribeConfigsRequest, DescribedConfig, DescribedResource, Resource,
};
use crate::kafka::reader::{Reader, WireError};

pub(in crate::kafka) fn decode(
    reader: &mut Reader,
    version: i16,
) -> Result<DescribeConfigsRequest, WireError> {
    let resources = reader.array("resources", |reader| {
        let resource = Resource {
            kind: reader.i8("the kind of a resource")?,
            name: reader.string("a resource's name")?,
        };
        let names = reader.nullable_array("names", |reader| reader.string("a config's name"))?;
        reader.tags()?;
        Ok((resource, names))
    })?;
    Ok(DescribeConfigsRequest {
        resources,
        include_synonyms: reader.bool("whether to tell synonyms")?,
        include_documentation: match version {
            3.. => reader.bool("whether to explain")?,
            _ => false,
        },
    })
}

pub(in crate::kafka) fn encode(
    version: i16,
    results: Vec<DescribedResource>,
) -> DescribeConfigsResponse {
    let results = results.into_iter().map(|result| {
        let configs = result
            .configs
            .into_iter()
            .map(|config| one(version, config));
        DescribeConfigsResult::default()
            .with_error_code(result.error.0)
            .with_error_message(result.message.map(StrBytes::from_string))
            .with_resource_type(result.resource.kind)
            .with_resource_name(StrBytes::from_string(result.resource.name))
            .with_configs(configs.collect())
    });
    DescribeConfigsResponse::default().with_results(results.collect())
}

fn one(version: i16, config: DescribedConfig) -> DescribeConfigsResourceResult {
    let synonyms = config.synonyms.into_iter().map(|(name, value, source)| {
        DescribeConfigsSynonym::default()
            .with_name(StrBytes::from_static_str(name))
            .with_value(Some(StrBytes::from_string(value)))
            .with_source(source as i8)
    });
    let answer = DescribeConfigsResourceResult::default()
        .with_name(StrBytes::from_static_str(config.name))
        .with_value(Some(StrBytes::from_string(config.value)))
        .with_read_only(config.read_only)
        .with_config_source(config.source as i8)
        .with_synonyms(synonyms.collect());
    match version {
        3.. => answer
            .with_config_type(config.kind)
            .with_documentation(config.documentation.map(StrBytes::from_static_str)),
        _ => answer,
    }
}
