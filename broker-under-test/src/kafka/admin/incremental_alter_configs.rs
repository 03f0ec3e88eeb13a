//! IncrementalAlterConfigs (key 44).

use kafka_protocol::messages::IncrementalAlterConfigsResponse;
use kafka_protocol::messages::incremental_alter_configs_response::AlterConfigsResourceResponse;
use kafka_protocol::protocol::StrBytes;

use crate::core::messages::configs::{
    AlterConfigsRequest, AlteredResource, ConfigChange, Resource,
};
use crate::kafka::reader::{Reader, WireError};

pub(in crate::kafka) fn decode(reader: &mut Reader) -> Result<AlterConfigsRequest, WireError> {
    let resources = reader.array("resources", |reader| {
        let resource = Resource {
            kind: reader.i8("the kind of a resource")?,
            name: reader.string("a resource's name")?,
        };
        let changes = reader.array("configs", |reader| {
            let change = ConfigChange {
                name: reader.string("a config's name")?,
                operation: reader.i8("an operation")?,
                value: reader.nullable_string("a config's value")?,
            };
            reader.tags()?;
            Ok(change)
        })?;
        reader.tags()?;
        Ok((resource, changes))
    })?;
    Ok(AlterConfigsRequest {
        resources,
        validate_only: reader.bool("whether only to validate")?,
    })
}

pub(in crate::kafka) fn encode(results: Vec<AlteredResource>) -> IncrementalAlterConfigsResponse {
    let responses = results.into_iter().map(|result| {
        AlterConfigsResourceResponse::default()
            .with_error_code(result.error.0)
            .with_error_message(result.message.map(StrBytes::from_string))
            .with_resource_type(result.resource.kind)
            .with_resource_name(StrBytes::from_string(result.resource.name))
    });
    IncrementalAlterConfigsResponse::default().with_responses(responses.collect())
}
